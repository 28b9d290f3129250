#include <algorithm>

#include "cost/collective_time.hpp"

namespace stagecraft {
namespace {

std::int32_t local_index(const Topology& topology, GpuId gpu) {
  return gpu.value % topology.gpus_per_node;
}

// Rate from a GPU through its nearest NIC, without the fabric.
double rate_to_nic(const Topology& topology, std::int32_t gpu) {
  double rate = 0;
  for (const std::int32_t index : topology.to_nic[static_cast<std::size_t>(gpu)]) {
    const double link_rate = topology.node_links[static_cast<std::size_t>(index)].achieved.value;
    rate = rate == 0 ? link_rate : std::min(rate, link_rate);
  }
  return rate;
}

// Ring inside one node over the local GPUs in order.
void measure_inside(const Topology& topology, const std::vector<std::int32_t>& local, GroupShape& shape) {
  double slowest = 0;
  for (std::size_t i = 0; i < local.size(); ++i) {
    const std::int32_t from = local[i], to = local[(i + 1) % local.size()];
    const std::size_t pair = static_cast<std::size_t>(from * topology.gpus_per_node + to);
    for (const std::int32_t index : topology.inside[pair]) {
      const Link& wire = topology.node_links[static_cast<std::size_t>(index)];
      slowest = slowest == 0 ? wire.achieved.value : std::min(slowest, wire.achieved.value);
      shape.inside = std::max(shape.inside, wire.kind);
    }
    shape.staged_through_host = shape.staged_through_host || topology.staged_inside[pair] != 0;
  }
  shape.intra_achieved = {slowest};
}

// Sum of the NICs that the node's members are nearest to, and how many other GPUs of the job use them too.
void measure_nics(const Topology& topology, const std::vector<std::int32_t>& local, std::int32_t job_per_node,
                  GroupShape& shape) {
  std::vector<std::int32_t> nics;
  double rate = 0;
  for (const std::int32_t gpu : local) {
    const std::int32_t nic = topology.nic_of_gpu[static_cast<std::size_t>(gpu)];
    if (nic < 0 || std::find(nics.begin(), nics.end(), nic) != nics.end()) continue;
    nics.push_back(nic);
    rate += rate_to_nic(topology, gpu);
  }
  std::int32_t users = 0;
  for (std::int32_t gpu = 0; gpu < job_per_node; ++gpu) {
    const std::int32_t nic = topology.nic_of_gpu[static_cast<std::size_t>(gpu)];
    if (std::find(nics.begin(), nics.end(), nic) != nics.end()) ++users;
  }
  shape.inter_achieved = {rate};
  shape.nic_sharers = std::max(1.0, static_cast<double>(users) / static_cast<double>(local.size()));
}

}  // namespace

GroupShape shape_of(const Topology& topology, std::span<const GpuId> members, std::int64_t job_gpus) {
  GroupShape shape;
  shape.ranks = static_cast<std::int32_t>(std::max<std::size_t>(members.size(), 1));
  if (members.size() < 2) return shape;
  // The node with the most members decides; members are ascending, so those of one node are neighbours.
  std::vector<std::int32_t> fullest, current;
  NodeId node;
  shape.nodes = 0;
  for (const GpuId gpu : members) {
    const NodeId at = node_of(topology, gpu);
    if (at != node) {
      node = at;
      ++shape.nodes;
      current.clear();
    }
    current.push_back(local_index(topology, gpu));
    if (current.size() > fullest.size()) fullest = current;
  }
  shape.ranks_per_node = static_cast<std::int32_t>(fullest.size());
  if (fullest.size() > 1) measure_inside(topology, fullest, shape);
  if (shape.nodes > 1) {
    const std::int64_t all = job_gpus > 0 ? job_gpus : gpu_count(topology);
    const std::int32_t job_per_node = static_cast<std::int32_t>(std::min<std::int64_t>(all, topology.gpus_per_node));
    measure_nics(topology, fullest, job_per_node, shape);
  }
  return shape;
}

}  // namespace stagecraft

#include <algorithm>

#include "cost/collective_time.hpp"

namespace stagecraft {
namespace {

std::int32_t local_index(const Topology& topology, GpuId gpu) {
  return gpu.value % topology.gpus_per_node;
}

// Ring inside one node over the local GPUs in order.
void measure_inside(const NodeWiring& wiring, std::int32_t gpus_per_node, const std::vector<std::int32_t>& local,
                    GroupShape& shape) {
  double slowest = 0;
  for (std::size_t i = 0; i < local.size(); ++i) {
    const std::int32_t from = local[i], to = local[(i + 1) % local.size()];
    const std::size_t pair = static_cast<std::size_t>(from * gpus_per_node + to);
    for (const std::int32_t index : wiring.inside[pair]) {
      const Link& wire = wiring.node_links[static_cast<std::size_t>(index)];
      slowest = slowest == 0 ? wire.achieved.value : std::min(slowest, wire.achieved.value);
      shape.inside = std::max(shape.inside, wire.kind);
      shape.left = std::min(shape.left, wire.left);
    }
    shape.staged_through_host = shape.staged_through_host || wiring.staged_inside[pair] != 0;
  }
  const double known = shape.intra_achieved.value;
  shape.intra_achieved = {known == 0 ? slowest : std::min(known, slowest)};
}

// The members send alike, so the one with the least share of a wire or NIC on its way out sets the pace.
double rate_out(const NodeWiring& wiring, const std::vector<std::int32_t>& local) {
  std::vector<std::int32_t> users(wiring.node_links.size(), 0);
  for (const std::int32_t gpu : local) {
    for (const std::int32_t link : wiring.to_nic[static_cast<std::size_t>(gpu)])
      ++users[static_cast<std::size_t>(link)];
  }
  double least = 0;
  for (std::size_t link = 0; link < users.size(); ++link) {
    if (users[link] == 0) continue;
    const double share = wiring.node_links[link].achieved.value / users[link];
    least = least == 0 ? share : std::min(least, share);
  }
  return least * static_cast<double>(local.size());
}

// How many other GPUs of the job use the NICs that the members are nearest to.
double sharers(const NodeWiring& wiring, const std::vector<std::int32_t>& local, std::int32_t job_per_node) {
  std::vector<std::int32_t> nics;
  for (const std::int32_t gpu : local) {
    const std::int32_t nic = wiring.nic_of_gpu[static_cast<std::size_t>(gpu)];
    if (nic >= 0 && std::find(nics.begin(), nics.end(), nic) == nics.end()) nics.push_back(nic);
  }
  std::int32_t users = 0;
  for (std::int32_t gpu = 0; gpu < job_per_node; ++gpu) {
    const std::int32_t nic = wiring.nic_of_gpu[static_cast<std::size_t>(gpu)];
    if (std::find(nics.begin(), nics.end(), nic) != nics.end()) ++users;
  }
  return std::max(1.0, static_cast<double>(users) / static_cast<double>(local.size()));
}

}  // namespace

GroupShape shape_of(const Topology& topology, std::span<const GpuId> members, std::int64_t job_gpus) {
  GroupShape shape;
  shape.ranks = static_cast<std::int32_t>(std::max<std::size_t>(members.size(), 1));
  if (members.size() < 2) return shape;
  const std::int64_t all = job_gpus > 0 ? job_gpus : gpu_count(topology);
  const std::int32_t job_per_node = static_cast<std::int32_t>(std::min<std::int64_t>(all, topology.gpus_per_node));
  // Members are ascending, so those of one node are neighbours. The node with the most of them decides, and where
  // faults set nodes apart, the slowest.
  std::span<const GpuId> fullest;
  std::vector<std::span<const GpuId>> measured;
  shape.nodes = 0;
  for (std::size_t begin = 0; begin < members.size();) {
    const NodeId node = node_of(topology, members[begin]);
    std::size_t end = begin + 1;
    while (end < members.size() && node_of(topology, members[end]) == node) ++end;
    const std::span<const GpuId> here = members.subspan(begin, end - begin);
    ++shape.nodes;
    if (here.size() > fullest.size()) fullest = here;
    if (!topology.variant_of.empty() && topology.variant_of.count(node.value) > 0) measured.push_back(here);
    begin = end;
  }
  shape.ranks_per_node = static_cast<std::int32_t>(fullest.size());
  if (topology.variant_of.empty() || topology.variant_of.count(node_of(topology, fullest.front()).value) == 0)
    measured.push_back(fullest);
  double out = 0;
  std::vector<std::int32_t> local;
  for (const std::span<const GpuId> here : measured) {
    const NodeWiring& wiring = wiring_of(topology, node_of(topology, here.front()));
    local.clear();
    for (const GpuId gpu : here) local.push_back(local_index(topology, gpu));
    if (local.size() > 1) measure_inside(wiring, topology.gpus_per_node, local, shape);
    if (shape.nodes < 2) continue;
    const double rate = rate_out(wiring, local);
    out = out == 0 ? rate : std::min(out, rate);
    shape.nic_sharers = std::max(shape.nic_sharers, sharers(wiring, local, job_per_node));
  }
  if (shape.nodes > 1) shape.inter_achieved = {out};
  return shape;
}

}  // namespace stagecraft

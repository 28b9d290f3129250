#include <algorithm>

#include "cost/collective_time.hpp"

namespace stagecraft {
namespace {

std::int32_t local_index(const Topology& topology, GpuId gpu) {
  return gpu.value % topology.gpus_per_node;
}

/// 0: not known yet.
BytesPerSecond least(BytesPerSecond known, BytesPerSecond other) {
  return known.value == 0 ? other : std::min(known, other);
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
  shape.intra_achieved = least(shape.intra_achieved, BytesPerSecond{slowest});
  if (shape.inside == LinkKind::network) return;
  for (const std::int32_t gpu : local) {
    const auto& links = wiring.links_of_gpu[static_cast<std::size_t>(gpu)];
    shape.links_of_gpu = least(shape.links_of_gpu, links[static_cast<std::size_t>(shape.inside)]);
  }
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

/// How members of a group lie on a node.
struct OnNode {
  const NodeWiring* wiring = nullptr;
  std::vector<std::int32_t> local;
  std::int32_t of_job = 0;  // GPUs of the node that the job uses
};

}  // namespace

GroupShape shape_of(const Topology& topology, std::span<const GpuId> members, std::int64_t job_gpus) {
  GroupShape shape;
  shape.ranks = static_cast<std::int32_t>(std::max<std::size_t>(members.size(), 1));
  if (members.size() < 2) return shape;
  const std::int64_t all = job_gpus > 0 ? job_gpus : gpu_count(topology);
  std::vector<OnNode> seen;  // each way to lie on a node once
  std::vector<std::int32_t> local;
  shape.nodes = 0;
  // Members are ascending, so those of one node are neighbours.
  for (std::size_t begin = 0; begin < members.size();) {
    const NodeId node = node_of(topology, members[begin]);
    local.clear();
    std::size_t end = begin;
    for (; end < members.size() && node_of(topology, members[end]) == node; ++end) {
      local.push_back(local_index(topology, members[end]));
    }
    begin = end;
    ++shape.nodes;
    const NodeWiring& wiring = wiring_of(topology, node);
    const std::int64_t left = all - static_cast<std::int64_t>(node.value) * topology.gpus_per_node;
    // Ranks that a file places behind the job's first nodes fill theirs like any other.
    const std::int64_t used = left > 0 ? left : all;
    const auto of_job = static_cast<std::int32_t>(std::min<std::int64_t>(used, topology.gpus_per_node));
    const auto is_known = [&](const OnNode& known) {
      return known.wiring == &wiring && known.of_job == of_job && known.local == local;
    };
    if (std::none_of(seen.begin(), seen.end(), is_known)) seen.push_back({&wiring, local, of_job});
  }
  double out = 0, longest = 0;
  for (const OnNode& here : seen) {
    const auto count = static_cast<std::int32_t>(here.local.size());
    shape.ranks_per_node = std::max(shape.ranks_per_node, count);
    if (count > 1) measure_inside(*here.wiring, topology.gpus_per_node, here.local, shape);
    if (shape.nodes < 2) continue;
    const double rate = rate_out(*here.wiring, here.local);
    out = out == 0 ? rate : std::min(out, rate);
    const double crosses = static_cast<double>(count) * (shape.ranks - count) / std::max(rate, 1e-300);
    if (crosses > longest) {
      longest = crosses;
      shape.crossing_ranks = count;
      shape.crossing_achieved = {rate};
    }
    shape.nic_sharers = std::max(shape.nic_sharers, sharers(*here.wiring, here.local, here.of_job));
  }
  if (shape.nodes < 2) return shape;
  shape.inter_achieved = {out};
  const std::vector<GpuId> group(members.begin(), members.end());
  shape.fabric_alone = shape.fabric_shared = fabric_share(topology, {&group, 1});
  return shape;
}

}  // namespace stagecraft

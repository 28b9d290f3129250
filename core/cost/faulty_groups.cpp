#include "cost/faulty_groups.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "cost/straggler.hpp"

namespace stagecraft {
namespace {

BytesPerSecond slower(BytesPerSecond a, BytesPerSecond b) {
  if (a.value == 0 || b.value == 0) return std::max(a, b);  // 0: the group has no such link
  return std::min(a, b);
}

FabricShare slower(const FabricShare& a, const FabricShare& b) {
  return {std::max(a.ring, b.ring), std::max(a.all_to_all, b.all_to_all)};
}

constexpr std::int32_t sampled_ranks = 16;

/// How far apart ranks are looked at: an order of axes repeats itself, so a sample of `count` shows every kind of
/// group; a rank file need not.
std::int32_t stride_of(const Plan& plan, std::int32_t count) {
  return plan.run.parallel.placement.places.empty() ? std::max(1, count / sampled_ranks) : 1;
}

/// Nodes of a row from `first` to `last` that stand for all of it.
std::vector<std::int64_t> sampled_nodes(std::int64_t first, std::int64_t last) {
  constexpr std::int64_t most = 16;
  std::vector<std::int64_t> nodes;
  for (std::int64_t i = 0; i < std::min(most, last - first + 1); ++i) {
    const std::int64_t apart = last - first + 1 <= most ? i : i * (last - first) / (most - 1);
    nodes.push_back(first + apart);
  }
  return nodes;
}

/// Whether the nodes without faults of their own have some all the same, which hit one of their ranks but not another.
bool has_fault_everywhere(const Topology& topology) {
  const std::vector<FaultSpec>& faults = topology.cluster.faults;
  return std::any_of(faults.begin(), faults.end(),
                     [](const FaultSpec& fault) { return fault.nodes.empty() && is_of_node(fault); });
}

/// Where the groups of an axis do not tile the nodes, they lie on them in different ways. A rank of each group, up to
/// where the pattern begins anew; none if all lie as `first` does.
std::vector<Rank> groups_that_lie_apart(const Plan& plan, const Topology& topology, Axis axis,
                                        const std::vector<GpuId>& first) {
  const std::int64_t node = topology.gpus_per_node, world = world_size(plan.degrees);
  const std::int64_t apart = first[1].value - first[0].value, span = apart * static_cast<std::int64_t>(first.size());
  const bool even = first.back().value - first.front().value == span - apart;
  const bool tiles = node % span == 0 || apart % node == 0 || (node % apart == 0 && span % node == 0);
  if (even && tiles) return {};
  const std::int64_t until = even ? std::min(world, std::lcm(span, node)) : world;
  std::vector<bool> seen(static_cast<std::size_t>(world));
  std::vector<Rank> found;
  for (std::int64_t r = 0; r < until; ++r) {
    if (seen[static_cast<std::size_t>(r)]) continue;
    const Rank rank(static_cast<std::int32_t>(r));
    const std::vector<Rank> group = group_of(plan.degrees, axis, rank);
    for (const Rank member : group) seen[member.index()] = true;
    if (!group.empty()) found.push_back(rank);
  }
  return found;
}

}  // namespace

GroupShape slower_of(const GroupShape& a, const GroupShape& b) {
  // One of them says how the ranks lie on nodes, or no group would lie so: the one that gets less across.
  const auto pace = [](const GroupShape& shape) {
    const double across = shape.nodes > 1 ? shape.inter_achieved.value / shape.nic_sharers : 1e300;
    return std::tuple(across, -shape.nodes, -shape.ranks_per_node);
  };
  GroupShape worst = pace(b) < pace(a) ? b : a;
  worst.nic_sharers = std::max(a.nic_sharers, b.nic_sharers);
  worst.inside = std::max(a.inside, b.inside);
  worst.staged_through_host = a.staged_through_host || b.staged_through_host;
  worst.intra_achieved = slower(a.intra_achieved, b.intra_achieved);
  worst.links_of_gpu = slower(a.links_of_gpu, b.links_of_gpu);
  worst.left = std::min(a.left, b.left);
  worst.fabric_alone = slower(a.fabric_alone, b.fabric_alone);
  worst.fabric_shared = slower(a.fabric_shared, b.fabric_shared);
  return worst;
}

std::vector<GpuId> members_of(const Plan& plan, Axis axis, Rank rank) {
  std::vector<GpuId> members;
  for (const Rank member : group_of(plan.degrees, axis, rank)) members.push_back(gpu_of(plan, member));
  if (!plan.gpus.empty()) std::sort(members.begin(), members.end());
  return members;
}

void visit_other_ranks(const Plan& plan, const Topology& topology, const std::function<void(Rank)>& visit) {
  const auto ranks = static_cast<std::int32_t>(world_size(plan.degrees));
  if (!plan.gpus.empty()) {
    const std::int32_t stride = stride_of(plan, ranks);
    for (std::int32_t rank = 0; rank < ranks; rank += stride) visit(Rank(rank));
    return;
  }
  const auto visit_node = [&](std::int64_t node) {
    const std::int64_t first = node * topology.gpus_per_node;
    for (std::int64_t gpu = first; gpu < std::min<std::int64_t>(ranks, first + topology.gpus_per_node); ++gpu)
      visit(Rank(static_cast<std::int32_t>(gpu)));
  };
  for (auto row = topology.variant_of.begin(); row != topology.variant_of.end();) {
    auto next = row;
    std::int64_t last = row->first;
    for (; next != topology.variant_of.end() && next->second == row->second && next->first <= last + 1; ++next)
      last = next->first;
    for (const std::int64_t node : sampled_nodes(row->first, last)) visit_node(node);
    row = next;
  }
  if (!has_fault_everywhere(topology)) return;
  for (const std::int64_t node : sampled_nodes(0, (ranks - 1) / topology.gpus_per_node)) {
    if (!topology.variant_of.contains(node)) visit_node(node);
  }
}

void share_fabric(const FabricShare& all_together, GroupShape& shape) {
  shape.fabric_shared = slower(shape.fabric_alone, all_together);
}

bool has_data_groups(const Plan& plan, Axis axis) {
  const Degrees& degrees = plan.degrees;
  if (axis == Axis::expert_data)
    return degrees.expert == 1 && group_size(degrees, Axis::expert_tensor) == group_size(degrees, Axis::tensor);
  return axis == Axis::data || ((axis == Axis::shard || axis == Axis::secondary) &&
                                group_size(degrees, axis) == group_size(degrees, Axis::data));
}

FabricShare share_of_all(const Plan& plan, const Topology& topology, Axis axis) {
  if (!fabric_limits(topology) || group_size(plan.degrees, axis) < 2) return {};
  const std::int64_t world = world_size(plan.degrees);
  std::vector<bool> seen(static_cast<std::size_t>(world));
  std::vector<std::vector<GpuId>> groups;
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    if (seen[rank]) continue;
    for (const Rank member : group_of(plan.degrees, axis, Rank(rank))) seen[member.index()] = true;
    groups.push_back(members_of(plan, axis, Rank(rank)));
  }
  const bool of_data = axis == Axis::data || axis == Axis::shard || axis == Axis::secondary || axis == Axis::replica;
  const bool exchanges = axis == Axis::expert || axis == Axis::ulysses || (of_data && plan.run.sharding.int4_reduce);
  return fabric_share(topology, groups, exchanges);
}

GroupShape worst_shape(const Plan& plan, const Topology& topology, Axis axis) {
  if (group_size(plan.degrees, axis) < 2) return {};
  const std::int64_t ranks = world_size(plan.degrees);
  const auto shape_at = [&](Rank rank) { return shape_of(topology, members_of(plan, axis, rank), ranks); };
  const Rank first = representative(plan, PipelineRank{0});
  GroupShape worst = shape_at(first);
  if (plan.gpus.empty()) {
    for (const Rank rank : groups_that_lie_apart(plan, topology, axis, members_of(plan, axis, first))) {
      worst = slower_of(worst, shape_at(rank));
    }
  }
  visit_other_ranks(plan, topology, [&](Rank rank) {
    const std::vector<Rank> group = group_of(plan.degrees, axis, rank);
    if (group.empty()) return;  // Axis::embedding of a middle rank
    const bool listed = !plan.run.parallel.placement.places.empty();
    if (listed && group.front() != rank) return;  // seen from its first rank
    worst = slower_of(worst, shape_at(rank));
  });
  return worst;
}

double slowest_gpu(const Plan& plan, const Topology& topology) {
  const std::int64_t ranks = world_size(plan.degrees);
  double speed = 1;
  const auto last = static_cast<std::int32_t>(std::min<std::int64_t>(ranks, topology.gpus_per_node));
  const bool some_sound = static_cast<std::int64_t>(topology.variant_of.size()) * topology.gpus_per_node < ranks;
  for (std::int32_t gpu = 0; gpu < last && some_sound; ++gpu)
    speed = std::min(speed, topology.gpu_speed[static_cast<std::size_t>(gpu)]);
  visit_other_ranks(plan, topology,
                    [&](Rank rank) { speed = std::min(speed, speed_of(topology, gpu_of(plan, rank))); });
  return 1 / speed;
}

double slowest_rank(const Plan& plan, const Calibration& calibration, double times) {
  const double spread =
      constant(calibration, "rank_spread").value * expected_maximum(static_cast<double>(world_size(plan.degrees)));
  return (1 + spread) * times - 1;
}

Route slowest_route(const Plan& plan, const Topology& topology, PipelineRank from, PipelineRank to) {
  Route slowest, route;
  find_route(topology, gpu_of(plan, representative(plan, from)), gpu_of(plan, representative(plan, to)), slowest);
  if (plan.gpus.empty()) return slowest;
  const Degrees& degrees = plan.degrees;
  const auto inner = static_cast<std::int32_t>(world_size(degrees) / degrees.pipeline);
  const std::int32_t stride = stride_of(plan, inner);
  for (std::int32_t place = 0; place < inner; place += stride) {
    find_route(topology, gpu_of(plan, Rank(from.value * inner + place)), gpu_of(plan, Rank(to.value * inner + place)),
               route);
    const bool staged = route.staged_through_host && !slowest.staged_through_host;
    if (staged || (route.staged_through_host == slowest.staged_through_host && !route.links.empty() &&
                   (slowest.links.empty() || route.bottleneck < slowest.bottleneck))) {
      slowest = route;
    }
  }
  return slowest;
}

}  // namespace stagecraft

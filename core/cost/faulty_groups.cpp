#include "cost/faulty_groups.hpp"

#include <algorithm>

#include "cost/straggler.hpp"

namespace stagecraft {
namespace {

std::vector<GpuId> members_of(const Plan& plan, Axis axis, Rank rank) {
  std::vector<GpuId> members;
  for (const Rank member : group_of(plan.degrees, axis, rank)) members.push_back(gpu_of(plan, member));
  if (!plan.gpus.empty()) std::sort(members.begin(), members.end());
  return members;
}

BytesPerSecond slower(BytesPerSecond a, BytesPerSecond b) {
  if (a.value == 0 || b.value == 0) return std::max(a, b);  // 0: the group has no such link
  return std::min(a, b);
}

constexpr std::int32_t sampled_ranks = 16;

/// How far apart ranks are looked at: an order of axes repeats itself, so a sample of `count` shows every kind of
/// group; a rank file need not.
std::int32_t stride_of(const Plan& plan, std::int32_t count) {
  return plan.run.parallel.placement.places.empty() ? std::max(1, count / sampled_ranks) : 1;
}

/// Ranks whose group may fare differently from the representative's: those on nodes with faults of their own, and under
/// a placement of its own all.
template <class Visit>
void visit_other_ranks(const Plan& plan, const Topology& topology, Visit visit) {
  const auto ranks = static_cast<std::int32_t>(world_size(plan.degrees));
  if (!plan.gpus.empty()) {
    const std::int32_t stride = stride_of(plan, ranks);
    for (std::int32_t rank = 0; rank < ranks; rank += stride) visit(Rank(rank));
    return;
  }
  for (const auto& [node, variant] : topology.variant_of) {
    const std::int64_t first = node * topology.gpus_per_node;
    for (std::int64_t gpu = first; gpu < std::min<std::int64_t>(ranks, first + topology.gpus_per_node); ++gpu)
      visit(Rank(static_cast<std::int32_t>(gpu)));
  }
}

}  // namespace

GroupShape worst_shape(const Plan& plan, const Topology& topology, Axis axis) {
  if (group_size(plan.degrees, axis) < 2) return {};
  const std::int64_t ranks = world_size(plan.degrees);
  const auto shape_at = [&](Rank rank) { return shape_of(topology, members_of(plan, axis, rank), ranks); };
  GroupShape worst = shape_at(representative(plan, PipelineRank{0}));
  visit_other_ranks(plan, topology, [&](Rank rank) {
    const std::vector<Rank> group = group_of(plan.degrees, axis, rank);
    if (group.empty()) return;  // Axis::embedding of a middle rank
    const bool listed = !plan.run.parallel.placement.places.empty();
    if (listed && group.front() != rank) return;  // seen from its first rank
    const GroupShape shape = shape_at(rank);
    worst.nodes = std::max(worst.nodes, shape.nodes);
    worst.ranks_per_node = std::max(worst.ranks_per_node, shape.ranks_per_node);
    worst.nic_sharers = std::max(worst.nic_sharers, shape.nic_sharers);
    worst.inside = std::max(worst.inside, shape.inside);
    worst.staged_through_host = worst.staged_through_host || shape.staged_through_host;
    worst.intra_achieved = slower(worst.intra_achieved, shape.intra_achieved);
    worst.inter_achieved = slower(worst.inter_achieved, shape.inter_achieved);
    worst.left = std::min(worst.left, shape.left);
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

CostModel model_at(const CostModel& model, const Plan& plan, const Topology& topology, PipelineRank rank,
                   std::int32_t replica) {
  const Degrees& degrees = plan.degrees;
  const Rank first = rank_at(degrees, {0, replica % degrees.context, replica / degrees.context, rank.value});
  const std::vector<GpuId> members = members_of(plan, Axis::tensor, first);
  double speed = 1;
  for (const GpuId gpu : members) speed = std::min(speed, speed_of(topology, gpu));
  CostModel local = model;
  local.groups[static_cast<std::size_t>(Axis::tensor)] = shape_of(topology, members, world_size(degrees));
  local.slowest = slowest_rank(plan, model.calibration, 1 / speed);
  return local;
}

}  // namespace stagecraft

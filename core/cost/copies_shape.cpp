#include "cost/copies_shape.hpp"

#include <algorithm>
#include <set>

#include "cost/faulty_groups.hpp"

namespace stagecraft {
namespace {

using Holders = std::vector<PipelineRank>;

Holders holders_of(const Schedule& schedule, Stage stage) {
  Holders holders;
  for (std::size_t copy = 0; copy < schedule.placement.size(); ++copy)
    holders.push_back(rank_of(schedule, stage, static_cast<std::uint8_t>(copy)));
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  return holders;
}

/// Of the axis, the groups of the ranks that stand at one place of each holder.
std::vector<GpuId> merged(const Plan& plan, const Holders& holders, Coordinates at, Axis axis) {
  std::vector<GpuId> members;
  for (const PipelineRank holder : holders) {
    at.pipeline = holder.value;
    const std::vector<GpuId> group = members_of(plan, axis, rank_at(plan.degrees, at));
    members.insert(members.end(), group.begin(), group.end());
  }
  std::sort(members.begin(), members.end());
  return members;
}

/// All groups that reduce gradients at the end of a step.
std::vector<std::vector<GpuId>> all_groups(const Schedule& schedule, const Plan& plan, Axis axis) {
  std::set<Holders> sets;
  for (std::int32_t stage = 0; stage < stage_count(schedule); ++stage) sets.insert(holders_of(schedule, Stage(stage)));
  std::vector<std::vector<GpuId>> groups;
  const std::int64_t places = world_size(plan.degrees) / plan.degrees.pipeline;
  for (const Holders& holders : sets) {
    const std::int64_t first = holders.front().value * places;
    std::vector<bool> seen(static_cast<std::size_t>(places));
    for (std::int64_t place = 0; place < places; ++place) {
      if (seen[static_cast<std::size_t>(place)]) continue;
      const Rank rank(static_cast<std::int32_t>(first + place));
      for (const Rank member : group_of(plan.degrees, axis, rank))
        seen[static_cast<std::size_t>(member.value - first)] = true;
      groups.push_back(merged(plan, holders, coordinates_of(plan.degrees, rank), axis));
    }
  }
  return groups;
}

}  // namespace

GroupShape shape_over_copies(const Schedule& schedule, const Plan& plan, const Topology& topology, Stage stage,
                             Axis axis) {
  const Rank first = representative(plan, PipelineRank(0));
  const std::vector<GpuId> members =
      merged(plan, holders_of(schedule, stage), coordinates_of(plan.degrees, first), axis);
  GroupShape shape = shape_of(topology, members, world_size(plan.degrees));
  if (shape.nodes > 1 && fabric_limits(topology))
    share_fabric(fabric_share(topology, all_groups(schedule, plan, axis), false), shape);
  return shape;
}

}  // namespace stagecraft

#include <algorithm>

#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

struct HeldStage {
  Stage stage;
  std::uint8_t replica = 0;
};

/// [rank] -> stages that it holds, ascending.
std::vector<std::vector<HeldStage>> stages_by_rank(const Schedule& schedule) {
  std::vector<std::vector<HeldStage>> held(schedule.programs.size());
  for (std::int32_t s = 0; s < stage_count(schedule); ++s) {
    for (std::size_t replica = 0; replica < schedule.placement.size(); ++replica) {
      const auto copy = static_cast<std::uint8_t>(replica);
      held[rank_of(schedule, Stage(s), copy).index()].push_back({Stage(s), copy});
    }
  }
  return held;
}

}  // namespace

Schedule add_optimizer(Schedule schedule) {
  const auto held = stages_by_rank(schedule);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    if (held[rank].empty()) continue;
    Op step;
    step.kind = OpKind::optimizer_step;
    step.stage = held[rank].front().stage;
    step.replica = held[rank].front().replica;
    schedule.programs[rank].push_back(step);
  }
  if (schedule.asynchronous) schedule.optimizer_sync = OptimizerSync::none;
  return schedule;
}

Schedule add_gather_params(Schedule schedule, bool overlap) {
  const auto held = stages_by_rank(schedule);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    for (const HeldStage& of : held[rank]) {
      Op gather;
      gather.kind = OpKind::gather_params;
      gather.lane = overlap ? Lane::data : Lane::compute;
      gather.stage = of.stage;
      gather.replica = of.replica;
      schedule.programs[rank].push_back(gather);
    }
  }
  return schedule;
}

}  // namespace stagecraft

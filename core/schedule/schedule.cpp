#include "schedule/schedule.hpp"

namespace stagecraft {

std::int32_t stage_count(const Schedule& schedule) {
  return schedule.placement.empty() ? 0 : static_cast<std::int32_t>(schedule.placement.front().size());
}

PipelineRank rank_of(const Schedule& schedule, Stage stage, std::uint8_t replica) {
  return schedule.placement[replica][stage.index()];
}

}  // namespace stagecraft

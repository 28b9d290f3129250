#include "schedule/stage_map.hpp"

namespace stagecraft {

namespace {

StageMap folded_map(std::int32_t ranks, std::int32_t chunks, bool turns) {
  StageMap map;
  map.reserve(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(chunks));
  for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
    const bool upward = turns && chunk % 2 == 1;
    for (std::int32_t offset = 0; offset < ranks; ++offset) {
      map.push_back(PipelineRank(upward ? ranks - 1 - offset : offset));
    }
  }
  return map;
}

}  // namespace

StageMap loop_map(std::int32_t ranks, std::int32_t chunks) {
  return folded_map(ranks, chunks, false);
}

StageMap v_map(std::int32_t ranks) {
  return folded_map(ranks, 2, true);
}

StageMap zigzag_map(std::int32_t ranks, std::int32_t waves) {
  return folded_map(ranks, 2 * waves, true);
}

StageMap upward_map(std::int32_t ranks) {
  StageMap map;
  for (std::int32_t stage = 0; stage < ranks; ++stage) map.push_back(PipelineRank(ranks - 1 - stage));
  return map;
}

}  // namespace stagecraft

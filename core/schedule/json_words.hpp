#pragma once
// What writer and reader of the JSON form agree on.

#include "schedule/schedule.hpp"

namespace stagecraft {

inline constexpr const char* schedule_format = "stagecraft-schedule";

inline const char* word_of_sync(OptimizerSync sync) {
  switch (sync) {
    case OptimizerSync::barrier:
      return "barrier";
    case OptimizerSync::post_validation:
      return "post-validation";
    case OptimizerSync::none:
      return "none";
  }
  return "barrier";
}

inline const char* word_of_weights(WeightPolicy weights) {
  switch (weights) {
    case WeightPolicy::one:
      return "one";
    case WeightPolicy::stashed:
      return "stashed";
    case WeightPolicy::double_buffered:
      return "double-buffered";
  }
  return "one";
}

/// The replica an operation belongs to unless it says otherwise: the first that holds its stage on this rank.
inline std::uint8_t usual_replica(const Schedule& schedule, Stage stage, std::size_t rank) {
  for (std::size_t replica = 0; replica < schedule.placement.size(); ++replica) {
    const StageMap& map = schedule.placement[replica];
    if (stage.valid() && stage.index() < map.size() && map[stage.index()].index() == rank) {
      return static_cast<std::uint8_t>(replica);
    }
  }
  return 0;
}

}  // namespace stagecraft

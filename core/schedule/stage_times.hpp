#pragma once
// How long the passes of a stage take, for schedules that are searched and for timing a schedule without a model.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stagecraft {

/// Durations in one common unit. A vector with one entry holds the time of a full-depth stage (1/p of the model): a
/// chunk of a rank with v chunks takes 1/v of it. Otherwise there is one entry per stage, used as it is. Empty: 1.
struct StageTimes {
  std::vector<double> forward, input_grad, weight_grad;
  double send = 0;  // between two ranks, either direction; delays the receiver only
  /// An overlapped pair of a forward and a backward taken as one block, per stage of the forward. Empty: the two run in
  /// turn.
  std::vector<double> pair;
};

/// The time of one stage out of a vector of StageTimes.
inline double time_of_stage(const std::vector<double>& times, std::size_t stage, std::int32_t chunks) {
  if (times.empty()) return 1.0 / chunks;
  return times.size() == 1 ? times[0] / chunks : times[stage];
}

}  // namespace stagecraft

#pragma once
// Stage times as whole numbers, so that a search breaks ties the same way on every machine: with binary fractions a
// comparison of equal sums depends on their rounding.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "schedule/stage_times.hpp"

namespace stagecraft {

/// One entry per stage.
struct StageTicks {
  std::vector<std::int64_t> forward, input_grad, weight_grad;
  std::int64_t send = 0;
};

/// Decimal times (1.2, 0.05, 18.522) become exact multiples of one tick; times with more than nine decimals are rounded
/// to 2^-30 of the longest. Precondition: times are finite and not negative.
StageTicks stage_ticks(const StageTimes& times, const PipelineShape& shape);

}  // namespace stagecraft

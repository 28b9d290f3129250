#pragma once
// Which forward and backward passes of a rank run together, where a framework merges neighbours so that one's exchanges
// of experts hide behind the other's kernels (Megatron-LM, core/pipeline_parallel/combined_1f1b.py).

#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

/// [rank] -> positions in its program of passes that run together, the earlier one first. Two passes in a row do so if
/// one is forward and one backward, of different micro-batches and between the same two drains, and neither waits for
/// the other by way of another rank; each with one neighbour at most. The pipeline drains behind every `per_drain`
/// micro-batches. Precondition: check_schedule has no errors.
std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> passes_together(const Schedule& schedule,
                                                                                  std::int32_t per_drain);

}  // namespace stagecraft

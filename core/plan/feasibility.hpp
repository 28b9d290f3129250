#pragma once
// Everything that makes a layout impossible, as findings with reasons; nothing about time or memory.

#include <cstdint>

#include "base/findings.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// Every error, warning and note at once, each with its reason and the nearest valid value.
/// Rules of divisibility follow Megatron-LM (arguments.py, transformer_config.py): attention heads, key-value heads and
/// the MLP's inner width are whole on every tensor rank (key-value heads are not replicated), the vocabulary is padded.
Findings check_feasible(const Scenario& scenario);

/// The part of check_feasible that asks nothing of the cluster: what make_plan requires.
Findings check_layout(const Scenario& scenario);

/// The vocabulary padded to a multiple of 128 * tensor (Megatron-LM, make-vocab-size-divisible-by 128).
std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

/// Limits that keep every index and every byte of a schedule in bounds.
inline constexpr std::int64_t largest_degree = 1 << 20;  // ranks along one axis
inline constexpr std::int64_t largest_world = 1 << 24;   // ranks in all
/// Stages * micro-batches * steps. As many forwards and backwards take about five seconds and one gigabyte.
inline constexpr std::int64_t largest_schedule = std::int64_t{1} << 19;
inline constexpr std::int64_t largest_step_count = 255;

}  // namespace stagecraft

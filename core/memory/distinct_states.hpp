#pragma once
// The states of memory that a schedule passes through, each once: in its steady part a pipeline repeats a few of them,
// whatever the number of micro-batches.

#include <cstdint>
#include <vector>

#include "memory/timeline.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// An operation that runs in a state in which none of its kind and stage has run before.
struct DistinctStep {
  std::uint32_t before = 0;  // the state in which it starts: 0 the first one, else 1 + the step that left it
  std::uint32_t effect = 0;  // into OpEffects::effects
  std::int32_t paired = -1;  // the same of a forward that runs until this operation has ended; -1: none
  bool goes_on = false;      // a forward that ends with its partner
  bool ends_paired = false;  // the partner
  std::uint32_t op = 0;      // position in the program
};

/// [pipeline rank] in the order of the program. Depends on the schedule alone, not on how many bytes anything has.
using DistinctStates = std::vector<std::vector<DistinctStep>>;
DistinctStates distinct_states(const Schedule& schedule);

/// What memory_peaks(plan, schedule) gives, from the states of this schedule.
std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule, const DistinctStates& states);

}  // namespace stagecraft

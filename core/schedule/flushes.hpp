#pragma once
// Gradient accumulation around a pipeline: the micro-batches of a step run in equal groups, and the pipeline drains
// behind each of them, before the one reduction and update of the step.

#include "schedule/family.hpp"

namespace stagecraft {

/// What the schedule refuses of one group of micro-batches, and groups that are not equal or never end.
Findings refuse_with_flushes(const FamilyEntry& entry, const ScheduleRequest& request);

/// The schedule of one group, `request.flushes` times in a row, with micro-batches numbered on. Precondition: nothing
/// refused.
Schedule generate_with_flushes(const FamilyEntry& entry, const ScheduleRequest& request);

}  // namespace stagecraft

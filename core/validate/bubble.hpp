#pragma once
// The bubble that a schedule has under stage times which a source profiled: schedule arithmetic alone.

#include <optional>

#include "schedule/stage_times.hpp"
#include "spec/run_spec.hpp"
#include "validate/record.hpp"

namespace stagecraft {

/// Share of an activation that stays from the input gradient to the weight gradient, 32h / (34h + 5as), as the searched
/// schedules of arXiv 2401.10241 count it (section 3.1; attention scores kept). 1 if the record lacks the sizes.
double kept_until_weight_grad(const RecordModel& model);

StageTimes stage_times_of(const RecordProfile& profile);

/// 1 - (mean busy time of the ranks) / (time of the step); nothing if the record gives no stage times. Zero-bubble
/// schedules count the longest span of a rank as the step (arXiv 2401.10241, section 4), others the makespan. Throws
/// InputError if the schedule refuses the shape.
std::optional<double> bubble_from_stage_times(const Record& record, const ParallelSpec& parallel,
                                              const ScheduleSpec& schedule, std::int64_t micro_batches);

}  // namespace stagecraft

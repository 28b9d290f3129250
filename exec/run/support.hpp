#pragma once
// What of a job the executor can run, and in which types it keeps its numbers.

#include <vector>

#include "base/findings.hpp"
#include "exec/run/options.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// Every reason at once (schedule/executable.hpp); empty: it runs. `compute` may be lowered or not.
Findings refusals(const Plan& plan, const Schedule& compute, const ExecuteOptions& options);

/// Types of the flat buffers for the run's precision (memory/recipe.hpp), or for `options.numbers`.
BufferPolicy buffer_policy(const Plan& plan, const ExecuteOptions& options);

}  // namespace stagecraft

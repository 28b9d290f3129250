#pragma once
// What can be executed and what can't. Nothing is downgraded: what is missing is refused before start, with the reason.

#include <vector>

#include "base/findings.hpp"
#include "exec/run/options.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// Every reason at once; empty: it runs. `compute` may be lowered or not.
Findings refusals(const Plan& plan, const Schedule& compute, const ExecuteOptions& options);

/// One line of the support matrix printed by --support and in the docs.
struct SupportLine {
  const char* feature;
  const char* state;  // "runs", or the reason for refusing it
};
std::vector<SupportLine> support_matrix();

/// Types of the flat buffers for the run's precision (memory/recipe.hpp), or for `options.numbers`.
BufferPolicy buffer_policy(const Plan& plan, const ExecuteOptions& options);

}  // namespace stagecraft

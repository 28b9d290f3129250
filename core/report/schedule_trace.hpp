#pragma once
// A schedule without a model as a trace, for pictures.

#include "schedule/analyse.hpp"
#include "schedule/schedule.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// One step; rank = pipeline rank, times in the unit of the analysis, compute operations only.
Trace to_trace(const Schedule& schedule, const Analysis& analysis);

}  // namespace stagecraft

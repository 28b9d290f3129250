#pragma once
// The memory curve of every pipeline rank as counters of a trace.

#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// Adds "memory/CLASS" and "memory/total" in bytes per rank of the trace: the state of memory/timeline.hpp from the
/// begin of each operation on. Operations are found by their OpId; ones that the trace lacks are left out.
void add_memory_counters(Trace& trace, const Plan& plan, const Schedule& schedule);

}  // namespace stagecraft

#pragma once
// Node times as a trace, for reports, pictures and exports that want one.

#include <vector>

#include "estimate/estimate.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// One representative per pipeline rank. producer, scenario and provenance are left to the caller.
Trace to_trace(const Estimate& estimate, const Plan& plan, const Schedule& schedule, const Graph& graph,
               const Topology& topology);

/// A schedule without a model: one step, rank = pipeline rank, `times` in whatever unit they were given in.
Trace to_trace(const NodeTimes& times, const Schedule& schedule, const Graph& graph);

}  // namespace stagecraft

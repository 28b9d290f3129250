#pragma once
// The chain of spans that set the time of a step.

#include <cstdint>

#include "trace/idle_time.hpp"
#include "trace/summary.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// First backward and last forward of a rank within a step. `compute` is the rank's compute lane.
Phases phases_of(const Trace& trace, SpanRange compute, Interval step);

/// Adds `part_s` seconds of a span to its class, the communication inside it apart: each part of a span is like the
/// whole.
void add_part_of(const Trace& trace, const Span& span, double part_s, Breakdown& seconds);

/// Walks back from span `last` to the begin of the step. Every instant of the step lies in one span of the path, or
/// between two (class `other`). Where the path computes on another rank than the busiest one while that one idles, the
/// time is bubble, by the phases of the busiest rank; otherwise it has the class of the span.
CriticalPath walk_critical_path(const Trace& trace, const Predecessors& predecessors, Interval step,
                                std::uint32_t last);

}  // namespace stagecraft

#pragma once
// Played times as a trace. Internal to the room.

#include <string>
#include <vector>

#include "sim/player.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// A span per operation, unsorted, and the graph's edges between them.
Trace trace_of(const PlayedTimes& times, const Playbook& book, const Plan& plan, const Schedule& schedule,
               const Graph& graph, const Topology& topology, std::int32_t steps);

/// Appends the segments of every operation that has a body, numbered through all repeats. Kernels take their
/// closed-form time; what contention added lies on the tensor-parallel collectives, in proportion to their time.
void add_segment_spans(Trace& trace, const Plan& plan, const Schedule& schedule, const LocalCosts& costs);

/// A counter per shared link: the sum of its flows' rates, in bytes per second of the link. What no
/// counter shows is noted as provenance. The trace's first spans are those of trace_of(), in its order.
void add_link_counters(Trace& trace, const Playbook& book, const std::vector<std::string>& names,
                       const std::vector<FlowStretch>& flows);

}  // namespace stagecraft

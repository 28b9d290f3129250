#pragma once
// How much later every operation could end without delaying the end of the trace.

#include <vector>

#include "trace/trace.hpp"

namespace stagecraft::gui {

/// Seconds per span, by the dependencies and by the order of the compute lane of every rank: the latest end is the
/// least latest begin of what comes after it. Segments have the slack of nothing but themselves: 0.
std::vector<float> slack_of(const Trace& trace, const Predecessors& before, const Predecessors& after);

/// The other way round: spans that had to wait for a span.
Predecessors successors_of(const Trace& trace);

}  // namespace stagecraft::gui

#pragma once
// Memory and link curves from the counters of a trace.

#include "gui/models/trace_rows.hpp"

namespace stagecraft::gui {

/// One curve per rank that has "memory/..." counters. Classes are stacked in the order of MemoryClass, others after
/// them; where a rank has no classes its "memory/total" is the only one.
std::vector<MemoryCurve> memory_curves(const Trace& trace);

/// From counters "link/...", by name.
std::vector<LinkCurve> link_curves(const Trace& trace);

/// Index of the point that holds at `time_s`, or no point (size) before the first.
std::size_t point_at(const std::vector<double>& time_s, double t);

/// Integral of a curve over [begin_s, end_s): bytes of a link.
double bytes_between(const LinkCurve& curve, double begin_s, double end_s);

}  // namespace stagecraft::gui

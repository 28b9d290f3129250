#pragma once
// What is under the mouse, in words: for tool tips, the status bar and screen readers.

#include <QString>

#include "gui/timeline/timeline_view.hpp"

namespace stagecraft::gui {

/// "2F5: rank 0, stage 2, micro-batch 5, 12.3 ms from 1.204 s; slack 0.4 ms".
QString describe(const LoadedTrace& loaded, const SliceRow::Slice& slice);
QString describe(const LoadedTrace& loaded, std::uint32_t span);

/// A point of a view: a slice, the shares of a column of a summed row, the state of a memory curve; "" if nothing.
QString describe_point(const TimelineView& view, QPointF point);

}  // namespace stagecraft::gui

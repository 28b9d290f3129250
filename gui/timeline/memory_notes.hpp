#pragma once
// What is written over a memory curve: the limit, and where and why it is highest.

#include <QPainter>
#include <vector>

#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {

struct MemoryNote {
  QString text;
  QRectF box;  // in the coordinates of the layout, within the row; boxes of a row do not overlap
  QRgb ink = 0;
};

/// The notes of a memory row for which there is room: first the limit's, then the peak's if it is in view.
std::vector<MemoryNote> memory_notes(const TimelineView& view, const Layout& layout, const Row& row);

/// Limits, peaks and notes of all memory rows.
void paint_memory_notes(QPainter& painter, const Layout& layout, const TimelineView& view);

}  // namespace stagecraft::gui

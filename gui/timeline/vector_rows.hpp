#pragma once
// Rows as shapes, for SVG and PDF.

#include <QPainter>

#include "gui/timeline/timeline_view.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {

/// Draws the slices as rectangles if that takes few enough of them, and says whether it did.
bool paint_rows_as_shapes(QPainter& painter, const Layout& layout, const TimelineView& view);

}  // namespace stagecraft::gui

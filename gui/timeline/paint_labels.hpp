#pragma once
// Words around and on the rows: ruler, names of rows, names of slices. All coordinates are logical; the painter's
// origin is that of the whole picture.

#include <QPainter>

#include "gui/timeline/timeline_view.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {

struct PaintCache;

void paint_ruler(QPainter& painter, const Layout& layout, const TimelineView& view);
void paint_row_labels(QPainter& painter, const Layout& layout, const TimelineView& view);
/// Slices at least a word wide get their name. With a cache, words are drawn once and then copied.
void paint_slice_labels(QPainter& painter, const Layout& layout, const TimelineView& view, PaintCache* cache);

}  // namespace stagecraft::gui

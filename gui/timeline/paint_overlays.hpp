#pragma once
// What lies over the rows: grid, critical path, arrows, selection, area, cursor.

#include <QPainter>

#include "gui/timeline/timeline_view.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {

void paint_step_ends(QPainter& painter, const Layout& layout, const TimelineView& view);
void paint_critical_path(QPainter& painter, const Layout& layout, const TimelineView& view);
/// From what the selected slice waited for, and to what waited for it, across rows.
void paint_arrows(QPainter& painter, const Layout& layout, const TimelineView& view);
void paint_marks(QPainter& painter, const Layout& layout, const TimelineView& view);
void paint_selection(QPainter& painter, const Layout& layout, const TimelineView& view);

/// Dependencies from or to a span that lead to another visible row, followed through messages that are not visible.
struct Arrow {
  std::uint32_t from = 0, to = 0;  // spans
};
std::vector<Arrow> arrows_of(const TimelineView& view, const SliceRef& slice);

}  // namespace stagecraft::gui

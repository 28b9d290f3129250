#pragma once
// What the colours mean: a line or more of swatches at the bottom.

#include <QPainter>

#include "gui/timeline/timeline_view.hpp"

namespace stagecraft::gui {

struct LegendEntry {
  QRgb fill = 0, hatch = 0;
  QString text;
};
/// Classes that occur in the traces, then classes of memory if a memory row is visible.
std::vector<LegendEntry> legend_of(const TimelineView& view);
/// As many lines as the area has room for; what is left out is counted.
void paint_legend(QPainter& painter, QRectF area, const TimelineView& view);
/// All of it, for a tool tip.
QString legend_text(const TimelineView& view);

/// A brush of diagonal lines, as the rows have them for idle time.
void fill_hatched(QPainter& painter, QRectF rect, QRgb fill, QRgb hatch);

}  // namespace stagecraft::gui

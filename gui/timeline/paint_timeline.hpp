#pragma once
// Paints a timeline into any QPainter.

#include <QImage>
#include <QPainter>

#include "gui/timeline/timeline_view.hpp"

namespace stagecraft::gui {

/// What painting keeps from frame to frame: the slices of every visible row as they were last sampled, the finished
/// picture of the rows, labels as masks. A default-constructed cache is empty; one belongs to one widget.
struct PaintCache;

/// Ruler, labels, rows, memory curves, arrows, selection. Raster devices get one image of the slices; others (SVG, PDF)
/// get shapes as long as there are few, else that image. `cache` may be null.
void paint_timeline(QPainter& painter, QSize size, const TimelineView& view, PaintCache* cache = nullptr);

/// Height that shows all rows.
int full_height(const TimelineView& view);

/// The whole of a trace as it is first shown: what --render draws.
TimelineView whole_view(const std::vector<Source>& sources, QSize size, bool dark, const QFont& font);

}  // namespace stagecraft::gui

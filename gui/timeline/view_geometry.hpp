#pragma once
// Where things of a view lie in logical pixels, for painting, hit tests and arrows.

#include <QRectF>
#include <optional>

#include "gui/timeline/timeline_view.hpp"

namespace stagecraft::gui {

/// From top to bottom: title, ruler, rows, legend; labels left of ruler and rows.
struct Layout {
  QRectF title, ruler, labels, rows, legend;
};
Layout layout_of(const TimelineView& view, QSize size);

/// Height that a whole legend takes at this width; 0 if the view has none.
int legend_height(const TimelineView& view, int width);

/// The same where rows and legend have to share `room`: it leaves rows that need more at least three quarters, or half
/// if it is a line; where that is too much there is none.
int legend_height(const TimelineView& view, int width, double room);

/// Row in which a lane is visible: its own, else that of its rank, else that of its node; rows.size() if it is filtered
/// out.
std::size_t visible_row(const TimelineView& view, std::uint8_t source, std::uint32_t lane);

/// Rectangle of a slice within the rows, y from the top of all rows minus the scroll; none where it is not visible.
std::optional<QRectF> slice_rect(const TimelineView& view, const SliceRef& slice);
std::optional<QRectF> span_rect(const TimelineView& view, std::uint8_t source, std::uint32_t span);

/// The slice under a point of the rows, if any; of a row that sums several lanes there is none.
std::optional<SliceRef> slice_at(const TimelineView& view, QPointF point);

/// One scale for the memory of a rank in all traces of a view, so that their curves can be compared.
struct MemoryScale {
  double top_bytes = 1;    // at the upper edge of the row
  double limit_bytes = 0;  // 0: unknown
};
MemoryScale memory_scale(const TimelineView& view, std::int32_t rank);

/// All lanes of rows [first, last] of one source, each once; a row that is folded stands for its main lane alone.
std::vector<std::uint32_t> lanes_of_rows(const TimelineView& view, std::uint8_t source, std::size_t first,
                                         std::size_t last);

}  // namespace stagecraft::gui

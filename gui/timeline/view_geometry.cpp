#include "gui/timeline/view_geometry.hpp"

#include <algorithm>

#include "gui/timeline/legend.hpp"

namespace stagecraft::gui {

Layout layout_of(const TimelineView& view, QSize size) {
  const double title = view.title ? 40 : 0, top = title + ruler_height;
  const double legend = legend_height(view, size.width(), size.height() - top);
  const double left = view.label_width, width = std::max(1, size.width() - view.label_width);
  const double rows = std::max(1.0, size.height() - top - legend);
  Layout layout;
  layout.title = QRectF(0, 0, size.width(), title);
  layout.ruler = QRectF(left, title, width, ruler_height);
  layout.labels = QRectF(0, top, left, rows);
  layout.rows = QRectF(left, top, width, rows);
  layout.legend = QRectF(0, size.height() - legend, size.width(), legend);
  return layout;
}

std::size_t visible_row(const TimelineView& view, std::uint8_t source, std::uint32_t lane) {
  const LaneRow& wanted = view.sources[source].loaded->lanes[lane];
  std::size_t of_rank = view.rows.size(), of_node = view.rows.size();
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    const Row& row = view.rows[i];
    if (row.source != source) continue;
    if (row.kind == RowKind::node) {
      const bool holds = std::any_of(row.lanes.begin(), row.lanes.end(), [&](std::uint32_t l) {
        return view.sources[source].loaded->lanes[l].rank == wanted.rank;
      });
      if (holds) of_node = i;
    } else if (row.kind != RowKind::memory && row.lanes.size() == 1) {
      if (row.lanes.front() == lane) return i;
      if (row.kind == RowKind::rank && row.rank == wanted.rank) of_rank = i;
    }
  }
  return of_rank != view.rows.size() ? of_rank : of_node;
}

std::optional<QRectF> slice_rect(const TimelineView& view, const SliceRef& ref) {
  const std::size_t index = visible_row(view, ref.source, ref.lane);
  if (index == view.rows.size()) return std::nullopt;
  const Source& source = view.sources[ref.source];
  const SliceRow::Slice slice = source.loaded->lanes[ref.lane].slices[ref.slice];
  const Row& row = view.rows[index];
  const double x0 = view.axis.x_of(static_cast<double>(slice.begin_ns) * 1e-9 + source.shift_s);
  const double x1 = view.axis.x_of(static_cast<double>(slice.end_ns) * 1e-9 + source.shift_s);
  return QRectF(x0, row.y - view.scroll_y, x1 - x0, row.height);
}

std::optional<QRectF> span_rect(const TimelineView& view, std::uint8_t source, std::uint32_t span) {
  const LoadedTrace& loaded = *view.sources[source].loaded;
  if (span >= loaded.row_of_span.size()) return std::nullopt;
  if (loaded.row_of_span[span] != no_span) {
    return slice_rect(view, {source, loaded.row_of_span[span], loaded.slice_of_span[span]});
  }
  return std::nullopt;
}

std::optional<SliceRef> slice_at(const TimelineView& view, QPointF point) {
  const std::size_t index = row_at(view.rows, static_cast<int>(point.y()) + view.scroll_y);
  if (index == view.rows.size()) return std::nullopt;
  const Row& row = view.rows[index];
  if (row.kind == RowKind::memory || row.lanes.size() != 1) return std::nullopt;
  const Source& source = view.sources[row.source];
  const SliceRow& slices = source.loaded->lanes[row.lanes.front()].slices;
  const double time_s = view.axis.time_at(point.x()) - source.shift_s;
  std::size_t slice = slices.at(nanoseconds(time_s));
  if (slice == slices.size()) {  // slices narrower than a pixel are hit by the pixel that they are in
    const std::int64_t half = nanoseconds(view.axis.seconds_per_pixel());
    slice = slices.first_ending_after(nanoseconds(time_s) - half);
    if (slice == slices.size() || slices.begin_ns(slice) > nanoseconds(time_s) + half) return std::nullopt;
  }
  return SliceRef{row.source, row.lanes.front(), static_cast<std::uint32_t>(slice)};
}

MemoryScale memory_scale(const TimelineView& view, std::int32_t rank) {
  double peak = 0, limit = 0;
  for (const Source& source : view.sources) {
    limit = std::max(limit, source.loaded->memory_limit_bytes);
    for (const MemoryCurve& curve : source.loaded->memory) {
      if (curve.rank == rank) peak = std::max(peak, curve.total[curve.peak]);
    }
  }
  return {std::max({peak * 1.12, limit * 1.12, 1.0}), limit};
}

std::vector<std::uint32_t> lanes_of_rows(const TimelineView& view, std::uint8_t source, std::size_t first,
                                         std::size_t last) {
  std::vector<std::uint32_t> lanes;
  for (std::size_t i = first; i <= last && i < view.rows.size(); ++i) {
    const Row& row = view.rows[i];
    if (row.source != source || row.kind == RowKind::memory) continue;
    if (row.kind == RowKind::node && !row.folded) continue;  // its ranks follow
    lanes.insert(lanes.end(), row.lanes.begin(), row.lanes.end());
  }
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  return lanes;
}

}  // namespace stagecraft::gui

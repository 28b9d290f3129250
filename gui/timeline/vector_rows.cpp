#include "gui/timeline/vector_rows.hpp"

#include "gui/timeline/legend.hpp"
#include "gui/timeline/memory_raster.hpp"
#include "gui/timeline/row_raster.hpp"

namespace stagecraft::gui {
namespace {

constexpr std::size_t most_shapes = 20'000;

std::size_t slices_in_view(const TimelineView& view) {
  std::size_t count = 0;
  for (const Row& row : view.rows) {
    const Source& source = view.sources[row.source];
    if (row.lanes.size() > 1) return most_shapes + 1;  // a mean of rows is nothing but columns
    for (const std::uint32_t lane : row.lanes) {
      const SliceRow& slices = source.loaded->lanes[lane].slices;
      count += slices.first_ending_after(nanoseconds(view.axis.end_s - source.shift_s)) -
               slices.first_ending_after(nanoseconds(view.axis.begin_s - source.shift_s));
    }
  }
  return count;
}

void paint_slices(QPainter& painter, QRectF box, const SliceRow& slices, const Source& source,
                  const TimelineView& view) {
  const std::int64_t begin = nanoseconds(view.axis.begin_s - source.shift_s);
  const std::int64_t end = nanoseconds(view.axis.end_s - source.shift_s);
  for (std::size_t i = slices.first_ending_after(begin); i < slices.size() && slices.begin_ns(i) < end; ++i) {
    const SliceRow::Slice slice = slices[i];
    const double x0 = box.left() + view.axis.x_of(static_cast<double>(slice.begin_ns) * 1e-9 + source.shift_s);
    const double x1 = box.left() + view.axis.x_of(static_cast<double>(slice.end_ns) * 1e-9 + source.shift_s);
    const auto k = static_cast<std::size_t>(slice.kind);
    const QRectF rect = QRectF(x0, box.top(), x1 - x0, box.height()).intersected(box);
    fill_hatched(painter, rect, view.palette.fill[k], view.palette.hatch[k]);
    if (slice.tensor_ns > 0) {
      const double part = static_cast<double>(slice.tensor_ns) / static_cast<double>(slice.end_ns - slice.begin_ns);
      painter.fillRect(QRectF(rect.left(), rect.bottom() - part * rect.height(), rect.width(), part * rect.height()),
                       QColor(view.palette.fill[static_cast<std::size_t>(SliceClass::tensor)]));
    }
    if (rect.width() >= 4 && !is_idle(slice.kind)) {
      painter.fillRect(QRectF(rect.left(), rect.top(), 0.6, rect.height()), QColor(view.palette.row));
    }
  }
}

/// Steps of every class, from the top of the stack down, so that lower ones cover the higher ones' lower part.
void paint_curve(QPainter& painter, QRectF box, const MemoryCurve& curve, const Source& source,
                 const TimelineView& view) {
  const MemoryScale scale = memory_scale(view, curve.rank);
  std::vector<double> top(curve.total);
  for (std::size_t c = curve.classes.size(); c-- > 0;) {
    QPolygonF shape;
    shape << box.bottomLeft();
    for (std::size_t i = 0; i < curve.time_s.size(); ++i) {
      const double x0 = box.left() + view.axis.x_of(curve.time_s[i] + source.shift_s);
      const double next = i + 1 < curve.time_s.size() ? curve.time_s[i + 1] : curve.end_s;
      const double x1 = box.left() + view.axis.x_of(next + source.shift_s);
      const double y = box.bottom() - box.height() * top[i] / scale.top_bytes;
      shape << QPointF(std::clamp(x0, box.left(), box.right()), y)
            << QPointF(std::clamp(x1, box.left(), box.right()), y);
    }
    shape << QPointF(shape.back().x(), box.bottom());
    shape[0].setX(shape[1].x());
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(view.palette.memory[memory_color(curve.classes[c])]));
    painter.drawPolygon(shape);
    painter.setBrush(Qt::NoBrush);
    for (std::size_t i = 0; i < top.size(); ++i) top[i] -= curve.bytes[c][i];
  }
}

}  // namespace

bool paint_rows_as_shapes(QPainter& painter, const Layout& layout, const TimelineView& view) {
  if (slices_in_view(view) > most_shapes || view.critical_path) return false;
  for (const Row& row : view.rows) {
    const Source& source = view.sources[row.source];
    const QRectF box(layout.rows.left(), layout.rows.top() + row.y - view.scroll_y, layout.rows.width(), row.height);
    if (box.top() > layout.rows.bottom() || box.bottom() < layout.rows.top()) continue;
    painter.fillRect(box, QColor(view.palette.row));
    for (const std::uint32_t lane : row.lanes) {
      paint_slices(painter, box, source.loaded->lanes[lane].slices, source, view);
    }
    if (row.kind != RowKind::memory) continue;
    for (const MemoryCurve& curve : source.loaded->memory) {
      if (curve.rank == row.rank) paint_curve(painter, box, curve, source, view);
    }
  }
  return true;
}

}  // namespace stagecraft::gui

#include "gui/timeline/memory_notes.hpp"

#include <algorithm>
#include <cmath>

#include "gui/timeline/memory_raster.hpp"

namespace stagecraft::gui {
namespace {

constexpr double side = 3, aside = 10, apart = 4;  // pixels: around a text, from a point to its note, between notes

QFont small(const TimelineView& view) {
  QFont font = view.font;
  font.setPixelSize(std::max(8, view.font.pixelSize() - 1));
  return font;
}

const MemoryCurve* curve_of(const TimelineView& view, const Row& row) {
  for (const MemoryCurve& curve : view.sources[row.source].loaded->memory) {
    if (curve.rank == row.rank) return &curve;
  }
  return nullptr;
}

QRectF rect_of(const TimelineView& view, const Layout& layout, const Row& row) {
  return {layout.rows.left(), layout.rows.top() + row.y - view.scroll_y, layout.rows.width(),
          static_cast<double>(row.height)};
}

/// Of the limit's line, sharp.
double limit_y(const QRectF& rect, const MemoryScale& scale) {
  return std::floor(rect.top() + rect.height() * (1 - scale.limit_bytes / scale.top_bytes)) + 0.5;
}

double y_of(double bytes, const QRectF& rect, const MemoryScale& scale) {
  return rect.top() + rect.height() * (1 - bytes / scale.top_bytes);
}

QPointF peak_of(const TimelineView& view, const Row& row, const QRectF& rect, const MemoryCurve& curve,
                const MemoryScale& scale) {
  return {rect.left() + view.axis.x_of(curve.time_s[curve.peak] + view.sources[row.source].shift_s),
          y_of(curve.total[curve.peak], rect, scale)};
}

bool in_view(const QPointF& point, const QRectF& rect) {
  return point.x() >= rect.left() - 1 && point.x() <= rect.right() + 1;
}

QRgb ink_of_peak(const TimelineView& view, const MemoryCurve& curve, const MemoryScale& scale) {
  const bool too_much = scale.limit_bytes > 0 && curve.total[curve.peak] > scale.limit_bytes;
  return too_much ? view.palette.limit : view.palette.ink;
}

}  // namespace

std::vector<MemoryNote> memory_notes(const TimelineView& view, const Layout& layout, const Row& row) {
  const MemoryCurve* const curve = curve_of(view, row);
  const QFontMetricsF metrics(small(view));
  const QRectF rect = rect_of(view, layout, row);
  std::vector<MemoryNote> notes;
  if (curve == nullptr || rect.height() < metrics.height() + 2) return notes;
  const MemoryScale scale = memory_scale(view, row.rank);
  // A box whose upper edge is wanted at `top`, moved into the row.
  const auto place = [&](const QString& text, double left, double top) {
    const double width = metrics.horizontalAdvance(text) + 2 * side, height = metrics.height() + 2;
    return QRectF(std::clamp(left, rect.left() + 1, std::max(rect.left() + 1, rect.right() - width - side)),
                  std::clamp(top, rect.top(), rect.bottom() - height), width, height);
  };
  const auto cut = [&](const std::string& text) {
    return metrics.elidedText(QString::fromStdString(text), Qt::ElideRight, rect.width() - 3 * side - 1);
  };
  if (scale.limit_bytes > 0) {
    const QString text = cut("usable " + bytes_text(scale.limit_bytes));
    notes.push_back({text, place(text, rect.right(), limit_y(rect, scale) + 1), view.palette.limit});
  }
  const QPointF peak = peak_of(view, row, rect, *curve, scale);
  if (!in_view(peak, rect)) return notes;
  const QString text = cut("peak " + peak_text(*curve));
  QRectF box = place(text, peak.x() + aside - side, peak.y() + 2);
  // Where there is little memory the place under the point is not in the row: the note stands beside it.
  if (!notes.empty() && box.intersects(notes.front().box)) {
    const QRectF limit = notes.front().box;
    if (rect.bottom() - limit.bottom() >= box.height()) {
      box.moveTop(limit.bottom());
    } else {
      box.moveRight(limit.left() - apart);
    }
  }
  if (box.left() >= rect.left()) notes.push_back({text, box, ink_of_peak(view, *curve, scale)});
  return notes;
}

void paint_memory_notes(QPainter& painter, const Layout& layout, const TimelineView& view) {
  painter.setFont(small(view));
  const QFontMetricsF metrics(painter.font());
  painter.setClipRect(layout.rows);
  for (const Row& row : view.rows) {
    const QRectF rect = rect_of(view, layout, row);
    if (row.kind != RowKind::memory || rect.top() > layout.rows.bottom() || rect.bottom() < layout.rows.top()) continue;
    const MemoryCurve* const curve = curve_of(view, row);
    if (curve == nullptr) continue;
    const MemoryScale scale = memory_scale(view, row.rank);
    if (scale.limit_bytes > 0) {
      const double limit = limit_y(rect, scale);
      QPen pen(QColor(view.palette.limit), 1.2);
      pen.setDashPattern({5, 3});
      painter.setPen(pen);
      painter.drawLine(QPointF(rect.left(), limit), QPointF(rect.right(), limit));
    }
    const QPointF peak = peak_of(view, row, rect, *curve, scale);
    if (in_view(peak, rect)) {
      painter.setRenderHint(QPainter::Antialiasing, true);
      painter.setPen(QPen(QColor(view.palette.background), 1.5));
      painter.setBrush(QColor(ink_of_peak(view, *curve, scale)));
      painter.drawEllipse(peak, 4, 4);
      painter.setBrush(Qt::NoBrush);
      painter.setRenderHint(QPainter::Antialiasing, false);
    }
    QColor halo(view.palette.background);
    halo.setAlphaF(0.78F);
    for (const MemoryNote& note : memory_notes(view, layout, row)) {
      painter.fillRect(note.box, halo);
      painter.setPen(QColor(note.ink));
      painter.drawText(note.box.topLeft() + QPointF(side, metrics.ascent() + 1), note.text);
    }
  }
  painter.setClipping(false);
}

}  // namespace stagecraft::gui

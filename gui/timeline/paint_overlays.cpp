#include "gui/timeline/paint_overlays.hpp"

#include <QPainterPath>
#include <algorithm>

namespace stagecraft::gui {
namespace {

QRectF on_screen(const Layout& layout, QRectF of_rows) {
  return of_rows.translated(layout.rows.topLeft());
}

void frame(QPainter& painter, const Layout& layout, QRectF rect, QColor color, double width) {
  QRectF box = on_screen(layout, rect);
  if (box.width() < 3) box.adjust(-(3 - box.width()) / 2, 0, (3 - box.width()) / 2, 0);
  box = box.intersected(layout.rows.adjusted(-4, -4, 4, 4));
  painter.setPen(QPen(color, width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box.adjusted(width / 2, width / 2, -width / 2, -width / 2));
}

void text_badge(QPainter& painter, QPointF middle, const QString& text, QColor fill, QColor ink, QRectF within) {
  const QFontMetricsF metrics(painter.font());
  QRectF box(0, 0, metrics.horizontalAdvance(text) + 12, metrics.height() + 4);
  box.moveCenter(middle);
  if (box.left() < within.left()) box.moveLeft(within.left());
  if (box.right() > within.right()) box.moveRight(within.right());
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawRoundedRect(box, 3, 3);
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(ink);
  painter.drawText(box, Qt::AlignCenter, text);
}

/// A smooth line that leaves to the right and arrives from the left.
void arrow(QPainter& painter, QPointF from, QPointF to) {
  const double reach = std::clamp(std::abs(to.x() - from.x()) / 2, 14.0, 80.0);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(reach, 0), to - QPointF(reach, 0), to);
  painter.drawPath(path);
  const QPolygonF head{to, to + QPointF(-7, -3.5), to + QPointF(-7, 3.5)};
  painter.setBrush(painter.pen().color());
  painter.drawPolygon(head);
  painter.setBrush(Qt::NoBrush);
}

}  // namespace

void paint_step_ends(QPainter& painter, const Layout& layout, const TimelineView& view) {
  if (view.sources.empty()) return;
  const Source& source = view.sources.front();
  const std::vector<double>& ends = source.loaded->trace.step_end_s;
  if (ends.size() < 2) return;
  painter.setFont(view.font);
  for (std::size_t step = 0; step + 1 < ends.size(); ++step) {
    const double x = std::floor(layout.rows.left() + view.axis.x_of(ends[step] + source.shift_s)) + 0.5;
    if (x < layout.rows.left() || x > layout.rows.right()) continue;
    painter.setPen(QPen(QColor(view.palette.faint_ink), 1, Qt::DashLine));
    painter.drawLine(QPointF(x, layout.ruler.bottom()), QPointF(x, layout.rows.bottom()));
  }
}

void paint_critical_path(QPainter& painter, const Layout& layout, const TimelineView& view) {
  painter.setClipRect(layout.rows);
  for (std::size_t s = 0; s < view.sources.size(); ++s) {
    const Source& source = view.sources[s];
    const LoadedTrace& loaded = *source.loaded;
    const std::vector<Span>& spans = loaded.trace.spans;
    QVector<QLineF> lines, joints;
    std::size_t row_before = view.rows.size();
    double x_before = 0;
    std::uint32_t lane_before = no_span;
    for (const std::uint32_t index : loaded.critical) {
      const double x0 = view.axis.x_of(spans[index].begin_s + source.shift_s);
      const double x1 = view.axis.x_of(spans[index].end_s + source.shift_s);
      const std::uint32_t lane = loaded.row_of_span[index];
      const bool off_screen = x1 < -1 || x0 > view.axis.width + 1;
      if (off_screen || lane == no_span) continue;
      const std::size_t row = lane == lane_before ? row_before : visible_row(view, static_cast<std::uint8_t>(s), lane);
      if (row == view.rows.size()) continue;
      const double y = view.rows[row].y - view.scroll_y + 1.0;
      lines.push_back(QLineF(x0, y, std::max(x1, x0 + 1), y));
      if (row_before != view.rows.size() && row_before != row) {
        joints.push_back(QLineF(x_before, view.rows[row_before].y - view.scroll_y + 1.0, x0, y));
      }
      row_before = row;
      lane_before = lane;
      x_before = x1;
    }
    painter.save();
    painter.translate(layout.rows.topLeft());
    QColor halo(view.palette.background);
    painter.setPen(QPen(halo, 4, Qt::SolidLine, Qt::FlatCap));
    painter.drawLines(lines);
    painter.setPen(QPen(QColor(view.palette.critical), 2.4, Qt::SolidLine, Qt::FlatCap));
    painter.drawLines(lines);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(QColor(view.palette.critical), 1.2));
    painter.drawLines(joints);
    painter.restore();
  }
  painter.setClipping(false);
}

void paint_arrows(QPainter& painter, const Layout& layout, const TimelineView& view) {
  if (!view.selected || view.selected->source >= view.sources.size()) return;
  painter.save();
  painter.setClipRect(layout.rows);
  painter.setRenderHint(QPainter::Antialiasing, true);
  for (const Arrow& a : arrows_of(view, *view.selected)) {
    const auto from = span_rect(view, view.selected->source, a.from), to = span_rect(view, view.selected->source, a.to);
    if (!from || !to) continue;
    const QRectF left = on_screen(layout, *from), right = on_screen(layout, *to);
    const QPointF begin(left.right(), left.center().y()), end(right.left(), right.center().y());
    QColor halo(view.palette.background);
    halo.setAlphaF(0.8F);
    painter.setPen(QPen(halo, 4));
    arrow(painter, begin, end);
    painter.setPen(QPen(QColor(view.palette.ink), 1.5));
    arrow(painter, begin, end);
  }
  painter.restore();
}

void paint_marks(QPainter& painter, const Layout& layout, const TimelineView& view) {
  constexpr std::size_t most_frames = 2000;
  painter.setClipRect(layout.rows);
  for (std::size_t i = 0; i < std::min(view.marked.size(), most_frames) && !view.sources.empty(); ++i) {
    if (const auto rect = span_rect(view, 0, view.marked[i])) {
      if (rect->right() < -2 || rect->left() > layout.rows.width() + 2) continue;
      frame(painter, layout, *rect, QColor(view.palette.ink), 1.5);
    }
  }
  painter.setClipping(false);
}

void paint_selection(QPainter& painter, const Layout& layout, const TimelineView& view) {
  const QColor accent(view.palette.accent);
  const QRectF sheet(layout.rows.left(), layout.ruler.top(), layout.rows.width(),
                     layout.rows.bottom() - layout.ruler.top());
  painter.setFont(view.font);
  painter.setClipRect(sheet);
  if (view.area) {
    const double x0 = layout.rows.left() + view.axis.x_of(view.area->begin_s);
    const double x1 = layout.rows.left() + view.axis.x_of(view.area->end_s);
    double top = layout.rows.top(), bottom = layout.rows.bottom();
    if (view.area->first_row < view.rows.size() && view.area->last_row < view.rows.size()) {
      top += view.rows[view.area->first_row].y - view.scroll_y - 1;
      const Row& last = view.rows[view.area->last_row];
      bottom = layout.rows.top() + last.y + last.height - view.scroll_y + 1;
    }
    QColor wash = accent;
    wash.setAlphaF(view.palette.dark ? 0.16F : 0.10F);
    const QRectF box(x0, std::max(top, layout.rows.top()), x1 - x0, bottom - std::max(top, layout.rows.top()));
    painter.fillRect(box, wash);
    painter.setPen(QPen(accent, 1));
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
    text_badge(painter, QPointF((x0 + x1) / 2, layout.ruler.center().y() - 1),
               QString::fromStdString(duration_text(view.area->end_s - view.area->begin_s)), accent,
               QColor(view.palette.dark ? 0xff16181c : 0xffffffff), layout.ruler);
  }
  painter.setClipRect(layout.rows);
  if (view.hovered && view.hovered != view.selected) {
    if (const auto rect = slice_rect(view, *view.hovered)) frame(painter, layout, *rect, QColor(view.palette.ink), 1);
  }
  if (view.selected && view.selected->source < view.sources.size()) {
    if (const auto rect = slice_rect(view, *view.selected)) {
      frame(painter, layout, rect->adjusted(-1, -1, 1, 1), QColor(view.palette.background), 4);
      frame(painter, layout, rect->adjusted(-1, -1, 1, 1), accent, 2);
    }
  }
  painter.setClipRect(sheet);
  if (view.cursor_s) {
    const double x = std::floor(layout.rows.left() + view.axis.x_of(*view.cursor_s)) + 0.5;
    QColor line(view.palette.faint_ink);
    line.setAlphaF(0.6F);
    painter.setPen(QPen(line, 1));
    painter.drawLine(QPointF(x, layout.rows.top()), QPointF(x, layout.rows.bottom()));
    text_badge(painter, QPointF(x, layout.ruler.center().y() - 1),
               QString::fromStdString(time_text(*view.cursor_s, view.axis.seconds_per_pixel())),
               QColor(view.palette.ink), QColor(view.palette.background), layout.ruler);
  }
  painter.setClipping(false);
}

}  // namespace stagecraft::gui

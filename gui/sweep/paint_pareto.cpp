#include "gui/sweep/paint_pareto.hpp"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <set>

namespace stagecraft::gui {
namespace {

constexpr double small_radius = 3.2, large_radius = 5.2;

QColor faded(QColor colour, float alpha) {
  colour.setAlphaF(alpha);
  return colour;
}

/// Told apart by shape as well as by colour.
void paint_point(QPainter& painter, QPointF place, Verdict verdict, const Theme& theme) {
  switch (verdict) {
    case Verdict::frontier:
      painter.setPen(QPen(theme.panel, 1.5));
      painter.setBrush(theme.accent);
      return painter.drawEllipse(place, large_radius, large_radius);
    case Verdict::runs:
      painter.setPen(Qt::NoPen);
      painter.setBrush(faded(theme.faint, 0.75F));
      return painter.drawEllipse(place, small_radius, small_radius);
    case Verdict::untimed:
      painter.setPen(QPen(faded(theme.faint, 0.6F), 1));
      painter.setBrush(Qt::NoBrush);
      return painter.drawEllipse(place, small_radius - 0.7, small_radius - 0.7);
    default: {
      painter.setPen(QPen(faded(theme.bad, 0.85F), 1.5, Qt::SolidLine, Qt::RoundCap));
      const double r = small_radius;
      painter.drawLine(place + QPointF(-r, -r), place + QPointF(r, r));
      painter.drawLine(place + QPointF(-r, r), place + QPointF(r, -r));
    }
  }
}

void paint_axes(QPainter& painter, const ParetoPicture& picture, const Theme& theme, const QFont& font) {
  const QFontMetricsF metrics(font);
  const QRectF& area = picture.area;
  painter.setFont(font);
  for (const PlotTick& tick : plot_ticks(picture.x, picture.x_unit.size, 7 * metrics.horizontalAdvance('0'))) {
    const double x = picture.x.pixel(tick.value);
    painter.setPen(QPen(theme.border, 1));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter.setPen(theme.faint);
    painter.drawText(QRectF(x - 60, area.bottom() + 4, 120, metrics.height()), Qt::AlignCenter, tick.label);
  }
  for (const PlotTick& tick : plot_ticks(picture.y, picture.y_unit.size, 3 * metrics.height())) {
    const double y = picture.y.pixel(tick.value);
    painter.setPen(QPen(theme.border, 1));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme.faint);
    painter.drawText(QRectF(area.left() - 200 - gap, y - metrics.height(), 200, 2 * metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, tick.label);
  }
  painter.setPen(theme.ink);
  painter.drawText(QRectF(area.left(), area.bottom() + 6 + metrics.height(), area.width(), metrics.height() + 2),
                   Qt::AlignCenter, QString("%1 (%2)").arg(picture.x_title, picture.x_unit.name));
  painter.save();
  painter.translate(2.0 * gap + metrics.height() / 2, area.center().y());
  painter.rotate(-90);
  painter.drawText(
      QRectF(-area.height() / 2, -metrics.height(), area.height(), 2 * metrics.height()), Qt::AlignCenter,
      metrics.elidedText(QString("%1 (%2)").arg(picture.y_title, picture.y_unit.name), Qt::ElideRight, area.height()));
  painter.restore();
}

void paint_limit(QPainter& painter, const ParetoPicture& picture, const Theme& theme, const QFont& font) {
  const QRectF& area = picture.area;
  const double x = picture.x.pixel(picture.limit);
  if (picture.limit <= 0 || x < area.left() || x > area.right()) return;
  painter.fillRect(QRectF(QPointF(x, area.top()), area.bottomRight()), faded(theme.bad_wash, theme.dark ? 0.5F : 0.8F));
  painter.setPen(QPen(theme.bad, 1.2, Qt::DashLine));
  painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
  painter.setPen(theme.bad);
  const QString text = SweepPointsModel::tr("memory limit %1 GiB").arg(picture.limit / 1073741824.0, 0, 'f', 1);
  const QFontMetricsF metrics(font);
  const double width = metrics.horizontalAdvance(text);
  const double from = x - width - gap > area.left() ? x - width - gap : x + gap;
  painter.drawText(QRectF(from, area.bottom() - metrics.height() - 4, width + 2, metrics.height()), Qt::AlignVCenter,
                   text);
}

void paint_legend(QPainter& painter, const ParetoPicture& picture, const Theme& theme, const QFont& font) {
  const QFontMetricsF metrics(font);
  const double middle = gap + metrics.height() / 2;
  double x = picture.area.left();
  const auto beyond = std::count_if(picture.points.begin(), picture.points.end(),
                                    [&](const PlotPoint& point) { return picture.beyond(point); });
  painter.setFont(font);
  for (std::size_t i = 0; i < verdict_count; ++i) {
    if (picture.counts[i] == 0) continue;
    const auto verdict = static_cast<Verdict>(i);
    const bool drawn = verdict < Verdict::cannot_run;
    if (drawn) {
      paint_point(painter, {x + large_radius, middle}, verdict, theme);
      x += 2 * large_radius + 5;
    }
    QString text = QString("%1 %2").arg(words_of(verdict)).arg(picture.counts[i]);
    if (!drawn) text = SweepPointsModel::tr("%1 (in the table)").arg(text);
    if (verdict == Verdict::does_not_fit && beyond > 0)
      text = SweepPointsModel::tr("%1 (%2 far beyond, at the right edge)").arg(text).arg(beyond);
    painter.setPen(verdict == Verdict::frontier ? theme.ink : theme.faint);
    text = metrics.elidedText(text, Qt::ElideRight, picture.area.right() - x);
    painter.drawText(QPointF(x, middle + metrics.ascent() / 2 - 1), text);
    x += metrics.horizontalAdvance(text) + 2.5 * gap;
  }
}

/// Of points that would cover each other to the pixel, one is drawn.
void paint_points(QPainter& painter, const ParetoPicture& picture, const Theme& theme) {
  std::set<std::pair<int, int>> taken;
  for (const bool front : {false, true}) {
    for (const PlotPoint& point : picture.points) {
      if ((point.verdict == Verdict::frontier) != front) continue;
      const QPointF place = picture.place(point);
      const std::pair pixel(qRound(place.x()), qRound(place.y()));
      if (!front && !taken.insert(pixel).second) continue;
      paint_point(painter, place, point.verdict, theme);
    }
  }
}

}  // namespace

void paint_pareto(QPainter& painter, const ParetoPicture& picture, const Theme& theme, const QFont& font) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font);
  paint_limit(painter, picture, theme, font);
  paint_axes(painter, picture, theme, font);
  const std::vector<QPointF> steps = frontier_steps(picture);
  painter.setPen(QPen(faded(theme.accent, 0.7F), 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(steps.data(), static_cast<int>(steps.size()));
  paint_points(painter, picture, theme);
  paint_legend(painter, picture, theme, font);
}

QRectF note_box(const QRectF& area, QPointF place, const QString& name, const QFont& font) {
  constexpr double beside = 14, above = 8, unlimited = 1e6;
  const QSizeF margins(2.0 * gap, gap);
  const double widest = std::max(0.6 * area.width(), 20.0 * gap) - margins.width();
  const QRectF words =
      QFontMetricsF(font).boundingRect(QRectF(0, 0, widest, unlimited), Qt::AlignCenter | Qt::TextWordWrap, name);
  const QSizeF size = QSizeF(std::ceil(words.width()), std::ceil(words.height())) + margins;
  const bool fits_right = place.x() + beside + size.width() < area.right();
  const double x = fits_right ? place.x() + beside : place.x() - beside - size.width();
  const double over = place.y() - above - size.height();
  const double y = std::min(over >= area.top() ? over : place.y() + above, area.bottom() - size.height());
  return {{std::max(x, area.left()), std::max(y, area.top())}, size};
}

void paint_mark(QPainter& painter, const ParetoPicture& picture, const PlotPoint& point, const QString& name,
                const Theme& theme, const QFont& font) {
  painter.setRenderHint(QPainter::Antialiasing);
  const QPointF place = picture.place(point);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.ink, 1.6));
  painter.drawEllipse(place, large_radius + 3, large_radius + 3);
  if (name.isEmpty()) return;
  const QRectF box = note_box(picture.area, place, name, font);
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(faded(theme.raised, 0.94F));
  painter.drawRoundedRect(box, 4, 4);
  painter.setPen(theme.ink);
  painter.setFont(font);
  painter.drawText(box, Qt::AlignCenter | Qt::TextWordWrap, name);
}

}  // namespace stagecraft::gui

#pragma once
// The scatter of a sweep: throughput against peak memory per GPU, or whatever its two first objectives are.

#include <QFont>
#include <QPainter>
#include <array>
#include <vector>

#include "gui/models/sweep_points.hpp"
#include "gui/sweep/plot_scale.hpp"
#include "gui/theme/theme.hpp"

namespace stagecraft::gui {

/// A point that has figures.
struct PlotPoint {
  int row = 0;  // of the model
  double x = 0, y = 0;
  Verdict verdict = Verdict::runs;
};

struct ParetoPicture {
  std::vector<PlotPoint> points;  // ascending by x, then y
  std::array<std::int64_t, verdict_count> counts{};
  QString x_title, y_title;  // "peak memory per GPU"
  PlotUnit x_unit, y_unit;
  double limit = 0;  // of x, where memory ends; 0 if points have different ones
  // of lay_out()
  PlotScale x, y;
  QRectF area;

  /// What overflows memory by far stands at the right edge.
  bool beyond(const PlotPoint& point) const { return point.x > x.high; }
  QPointF place(const PlotPoint& point) const {
    return {beyond(point) ? area.right() - 6 : x.pixel(point.x), y.pixel(point.y)};
  }
};

/// Of the model's points: the first objective upwards, the second across.
ParetoPicture make_pareto_picture(const SweepPointsModel& model);

void lay_out(ParetoPicture& picture, QSizeF size, const QFont& font);

/// Axes, limit, frontier, points and legend.
void paint_pareto(QPainter& painter, const ParetoPicture& picture, const Theme& theme, const QFont& font);

/// Where the name of the point at `place` stands: within the area if it can, in lines.
QRectF note_box(const QRectF& area, QPointF place, const QString& name, const QFont& font);

/// A ring around a point, with its name beside it unless that is "".
void paint_mark(QPainter& painter, const ParetoPicture& picture, const PlotPoint& point, const QString& name,
                const Theme& theme, const QFont& font);

/// Corners of the line through the frontier: never above a point that is not reached with that much memory.
std::vector<QPointF> frontier_steps(const ParetoPicture& picture);

}  // namespace stagecraft::gui

// What a scatter shows, and where.

#include <QFontMetricsF>
#include <algorithm>
#include <limits>
#include <tuple>

#include "gui/sweep/paint_pareto.hpp"

namespace stagecraft::gui {
namespace {

/// Times what a GPU has: points that need more than that would press all others together.
constexpr double farthest = 1.5;

struct AxisColumns {
  const PointColumn* up;
  const PointColumn* across;
};

AxisColumns columns_of(const PointTable& table) {
  AxisColumns columns{find_point_column("tokens_per_s"), find_point_column("peak_memory_bytes")};
  if (!table.objectives.empty()) columns.up = find_point_column(table.objectives[0]);
  if (table.objectives.size() > 1) columns.across = find_point_column(table.objectives[1]);
  return columns;
}

QString title_of(const PointColumn& column) {
  const std::string_view key = column.key;
  if (key == "tokens_per_s") return SweepPointsModel::tr("throughput");
  if (key == "peak_memory_bytes") return SweepPointsModel::tr("peak memory per GPU");
  return SweepPointsModel::tr(column.meaning);
}

/// The same for all points, or 0.
double common_limit(const SweepPointsModel& model) {
  double limit = 0;
  for (const Point& point : model.points()) {
    if (!has_figures(point)) continue;
    if (limit != 0 && point.figures.memory_limit_bytes != limit) return 0;
    limit = point.figures.memory_limit_bytes;
  }
  return limit;
}

double label_width(const PlotScale& scale, double unit, const QFontMetricsF& metrics) {
  double width = 0;
  for (const PlotTick& tick : plot_ticks(scale, unit, 48))
    width = std::max(width, metrics.horizontalAdvance(tick.label));
  return width;
}

}  // namespace

ParetoPicture make_pareto_picture(const SweepPointsModel& model) {
  const AxisColumns columns = columns_of(model.table());
  ParetoPicture picture;
  picture.counts = model.counts();
  picture.x_title = title_of(*columns.across);
  picture.y_title = title_of(*columns.up);
  double x_most = 0, y_most = 0;
  for (int row = 0; row < model.rowCount(); ++row) {
    const Point& point = model.point(row);
    if (!has_figures(point)) continue;
    const double x = point.figures.*columns.across->member, y = point.figures.*columns.up->member;
    picture.points.push_back({row, x, y, verdict_of(point)});
    x_most = std::max(x_most, x);
    y_most = std::max(y_most, y);
  }
  std::sort(picture.points.begin(), picture.points.end(), [](const PlotPoint& a, const PlotPoint& b) {
    return std::tie(a.x, a.y, a.row) < std::tie(b.x, b.y, b.row);
  });
  picture.x_unit = plot_unit(x_most, columns.across->unit);
  picture.y_unit = plot_unit(y_most, columns.up->unit);
  if (std::string_view(columns.across->key) == "peak_memory_bytes") picture.limit = common_limit(model);
  return picture;
}

void lay_out(ParetoPicture& picture, QSizeF size, const QFont& font) {
  const QFontMetricsF metrics(font);
  double x_least = std::numeric_limits<double>::infinity(), x_most = -x_least, y_least = x_least, y_most = -x_least;
  for (const PlotPoint& point : picture.points) {
    const bool far = picture.limit > 0 && point.x > farthest * picture.limit;
    x_least = std::min(x_least, point.x), x_most = std::max(x_most, far ? farthest * picture.limit : point.x);
    y_least = std::min(y_least, point.y), y_most = std::max(y_most, point.y);
  }
  if (picture.limit > 0 && picture.limit < 2 * x_most) {
    x_least = std::min(x_least, picture.limit);
    x_most = std::max(x_most, picture.limit);
  }
  picture.x = scale_around(x_least, x_most);
  picture.y = scale_around(y_least, y_most);
  if (y_least >= 0) picture.y.low = std::max(picture.y.low, 0.0);
  if (x_least >= 0) picture.x.low = std::max(picture.x.low, 0.0);
  const double line = metrics.height();
  const double top = line + 2.0 * gap, bottom = size.height() - 2 * line - 2.0 * gap;
  picture.y.begin = bottom, picture.y.end = top;
  const double left = 2.0 * gap + line + gap + label_width(picture.y, picture.y_unit.size, metrics) + gap;
  picture.x.begin = left, picture.x.end = size.width() - 2.0 * gap;
  picture.area = QRectF(QPointF(left, top), QPointF(picture.x.end, bottom));
}

std::vector<QPointF> frontier_steps(const ParetoPicture& picture) {
  std::vector<QPointF> corners;
  for (const PlotPoint& point : picture.points) {
    if (point.verdict != Verdict::frontier) continue;
    const QPointF place = picture.place(point);
    if (!corners.empty()) corners.emplace_back(place.x(), corners.back().y());
    corners.push_back(place);
  }
  return corners;
}

}  // namespace stagecraft::gui

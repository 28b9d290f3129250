// The front as a picture.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/xml_text.hpp"
#include "search/table.hpp"

namespace stagecraft {
namespace {

constexpr double left = 90, top = 40, width = 640, height = 420, bottom = 60, right = 30;

struct Scale {
  double low = 0, high = 1;
  double share(double value) const { return (value - low) / (high - low); }
};

Scale scale_of(const std::vector<Point>& points, double PointFigures::*member) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Point& point : points) {
    const double value = point.figures.*member;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low <= high)) return {};
  const double margin = high > low ? 0.05 * (high - low) : std::max(1e-9, 0.05 * std::abs(high));
  return {low - margin, high + margin};
}

/// 1, 2 or 5 times a power of ten, about five on the axis.
double tick_step(const Scale& scale) {
  const double rough = (scale.high - scale.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

double x_of(const Scale& scale, double value) {
  return left + scale.share(value) * width;
}

double y_of(const Scale& scale, double value) {
  return top + (1 - scale.share(value)) * height;
}

/// Bytes are told in GiB.
double divisor(const PointColumn& column) {
  return std::string_view(column.unit) == "B" ? 1073741824.0 : 1.0;
}

std::string title_of(const PointColumn& column) {
  const char* const unit = std::string_view(column.unit) == "B" ? "GiB" : column.unit;
  return fmt::format("{} ({})", column.meaning, unit);
}

void draw_axes(std::string& out, const PointColumn& across, const PointColumn& up, const Scale& x, const Scale& y) {
  const auto ticks = [](const Scale& scale, double unit, auto&& draw) {
    const Scale shown{scale.low / unit, scale.high / unit};
    const double step = tick_step(shown);
    for (double tick = std::ceil(shown.low / step) * step; tick <= shown.high; tick += step) {
      draw(tick * unit, fmt::format("{:.6g}", std::abs(tick) < step / 2 ? 0.0 : tick));
    }
  };
  ticks(x, divisor(across), [&](double value, const std::string& label) {
    out += fmt::format("<path d=\"M{:.1f} {}V{}\" stroke=\"#ddd\"/>\n", x_of(x, value), top, top + height);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x_of(x, value),
                       top + height + 16, label);
  });
  ticks(y, divisor(up), [&](double value, const std::string& label) {
    out += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/>\n", left, y_of(y, value), left + width);
    out +=
        fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y_of(y, value) + 4, label);
  });
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", left + width / 2, top + height + 36,
                     xml_text(title_of(across)));
  out += fmt::format("<text x=\"14\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0})\">{1}</text>\n",
                     top + height / 2, xml_text(title_of(up)));
}

}  // namespace

std::string front_svg(const PointTable& table) {
  const PointColumn& up = *find_point_column(table.objectives.at(0));
  const PointColumn& across = *find_point_column(table.objectives.at(1));
  std::vector<Point> shown;
  std::copy_if(table.points.begin(), table.points.end(), std::back_inserter(shown), has_figures);
  const Scale x = scale_of(shown, across.member), y = scale_of(shown, up.member);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      left + width + right, top + height + bottom);
  out += fmt::format("<text x=\"{}\" y=\"20\">{}: {} points, {} without figures</text>\n", left,
                     xml_text(table.scenario), table.points.size(), table.points.size() - shown.size());
  draw_axes(out, across, up, x, y);

  std::vector<Point> front;
  for (const Point& point : shown) {
    if (point.on_front) front.push_back(point);
  }
  std::stable_sort(front.begin(), front.end(),
                   [&](const Point& a, const Point& b) { return a.figures.*across.member < b.figures.*across.member; });
  std::string line;
  for (const Point& point : front) {
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x_of(x, point.figures.*across.member),
                        y_of(y, point.figures.*up.member));
  }
  if (!line.empty()) out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#1f77b4\"/>\n", line);
  for (const Point& point : shown) {
    const char* const fill = point.on_front                              ? "#1f77b4"
                             : point.status == PointStatus::does_not_fit ? "none\" stroke=\"#d62728"
                                                                         : "#999";
    std::string name = fmt::format("point {}", point.number);
    for (std::size_t i = 0; i < table.axes.size(); ++i)
      name += fmt::format(", {}={}", table.axes[i].path, point.values[i]);
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n",
                       x_of(x, point.figures.*across.member), y_of(y, point.figures.*up.member), point.on_front ? 5 : 3,
                       fill, xml_text(name));
  }
  out += fmt::format(
      "<text x=\"{}\" y=\"{}\">blue: Pareto front; grey: dominated; red ring: does not fit in memory</text>\n</svg>\n",
      left, top + height + 54);
  return out;
}

}  // namespace stagecraft

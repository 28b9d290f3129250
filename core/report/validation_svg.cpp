#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/xml_text.hpp"
#include "report/validation.hpp"

namespace stagecraft {
namespace {

constexpr double left = 70, top = 30, side = 560, legend = 240;
constexpr std::array colours{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b",
                             "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#393b79", "#637939"};

/// Groups are told apart by colour, and by shape once the colours have been round.
struct Mark {
  const char* colour = "";
  std::size_t shape = 0;
};

constexpr std::size_t shape_count = 4;

Mark mark_of(std::size_t group) {
  return {colours[group % colours.size()], group / colours.size() % shape_count};
}

/// The outline of a mark of radius `r`, as the data of a path.
std::string outline(std::size_t shape, double x, double y, double r) {
  switch (shape) {
    case 1:  // square
      return fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x - r, y - r, 2 * r, 2 * r, -2 * r);
    case 2:  // triangle
      return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}z", x, y - r, x + r, y + r, x - r);
    case 3:  // diamond
      return fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}z", x, y - r, r, r, -r, r, -r, -r);
    default:  // circle
      return fmt::format("M{0:.1f} {1:.1f}a{2:.1f} {2:.1f} 0 1 0 {3:.1f} 0a{2:.1f} {2:.1f} 0 1 0 {4:.1f} 0z", x - r, y,
                         r, 2 * r, -2 * r);
  }
}

struct Axis10 {
  double low = 0, high = 1;  // decades
  double place(double value) const { return (std::log10(value) - low) / (high - low) * side; }
};

Axis10 axis_of(const Validation& validation) {
  double least = 0, most = 0;
  for (const Outcome& outcome : validation.outcomes) {
    if (!outcome.step_time || outcome.step_time->predicted <= 0) continue;
    const auto [low, high] = std::minmax(outcome.step_time->predicted, outcome.step_time->measured);
    least = least == 0 ? low : std::min(least, low);
    most = std::max(most, high);
  }
  if (least <= 0) return {};
  const Axis10 axis{std::floor(std::log10(least)), std::ceil(std::log10(most))};
  return axis.high > axis.low ? axis : Axis10{axis.low, axis.low + 1};
}

void line(std::string& out, double x1, double y1, double x2, double y2, const char* style) {
  out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

void draw_axes(std::string& out, const Axis10& axis) {
  for (double decade = axis.low; decade <= axis.high; ++decade) {
    const double at = (decade - axis.low) / (axis.high - axis.low) * side;
    line(out, left + at, top, left + at, top + side, "stroke=\"#ddd\"");
    line(out, left, top + side - at, left + side, top + side - at, "stroke=\"#ddd\"");
    const std::string label = fmt::format("{:g} s", std::pow(10, decade));
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", left + at, top + side + 16,
                       label);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, top + side - at + 4,
                       label);
  }
  const double tenth = std::log10(1.1) / (axis.high - axis.low) * side;
  line(out, left, top + side, left + side, top, "stroke=\"#000\"");
  line(out, left, top + side - tenth, left + side - tenth, top, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
  line(out, left + tenth, top + side, left + side, top + tenth, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">measured step time</text>\n", left + side / 2,
                     top + side + 34);
  out += fmt::format("<text x=\"{}\" y=\"{}\">predicted step time; dashed: 10 % off</text>\n", left, top - 10);
}

}  // namespace

std::string scatter_svg(const Validation& validation) {
  const Axis10 axis = axis_of(validation);
  std::map<std::string, Mark> marks;
  std::string names;
  double y = top + 8;
  for (const GroupResult& group : validation.groups) {
    if (!group.step_time) continue;
    const Mark mark = mark_of(marks.size());
    marks.emplace(group.name, mark);
    names += fmt::format("<path d=\"{}\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
                         outline(mark.shape, left + side + 40, y, 4), mark.colour, left + side + 50, y + 4,
                         xml_text(group.name));
    y += 18;
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      left + side + legend, std::max(top + side + 50, y + 8));
  draw_axes(out, axis);
  for (const Outcome& outcome : validation.outcomes) {
    if (!outcome.step_time || outcome.step_time->predicted <= 0) continue;
    const Mark mark = marks.at(outcome.record.group);
    out += fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.6\"><title>{}: {:+.1f} %</title></path>\n",
                       outline(mark.shape, left + axis.place(outcome.step_time->measured),
                               top + side - axis.place(outcome.step_time->predicted), 3),
                       mark.colour, xml_text(outcome.record.id), 100 * outcome.step_time->error);
  }
  return out + names + "</svg>\n";
}

}  // namespace stagecraft

#pragma once
// Points as files: the same columns in every form, docs/search.md lists them.

#include <string>
#include <vector>

#include "search/axis.hpp"
#include "search/point.hpp"

namespace stagecraft {

/// What the points are points of.
struct PointTable {
  std::string scenario;            // as the user named the file
  std::string kind;                // "predicted" (simulated) or "estimated" (closed form)
  std::vector<std::string> fixed;  // overrides that all points share
  std::vector<SweepAxis> axes;
  std::vector<std::string> objectives;  // keys of columns, of the front
  std::vector<Point> points;            // ascending by number
};

std::string points_csv(const PointTable& table);
std::string points_json(const PointTable& table);
std::string points_markdown(const PointTable& table);

/// What points_json wrote. Throws InputError (file `where`) for any other text.
PointTable read_points_json(const std::string& text, const std::string& where);

/// Scatter of the first two objectives, the front drawn through; points without figures are counted below it.
/// Precondition: two objectives.
std::string front_svg(const PointTable& table);

/// One point as one line of JSON, and back. Doubles survive to the bit. Throws InputError (file `where`) if the text
/// is not what point_line writes.
std::string point_line(const Point& point);
Point read_point_line(const std::string& text, const std::string& where);

}  // namespace stagecraft

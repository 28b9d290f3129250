// The JSON form of a table of points, read back.

#include <nlohmann/json.hpp>

#include "base/input_error.hpp"
#include "search/table.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Point point_of(const Json& entry, const std::vector<SweepAxis>& axes) {
  Point point;
  point.number = entry.at("point").get<std::int64_t>();
  for (const SweepAxis& axis : axes) point.values.push_back(entry.at("values").at(axis.path).get<std::string>());
  point.status = status_of(entry.at("status").get<std::string>());
  if (has_figures(point)) {
    for (const PointColumn& column : point_columns()) point.figures.*column.member = entry.at(column.key).get<double>();
  }
  point.on_front = entry.at("pareto").get<bool>();
  point.reason = entry.at("reason").get<std::string>();
  return point;
}

}  // namespace

PointTable read_points_json(const std::string& text, const std::string& where) {
  PointTable table;
  try {
    const Json root = Json::parse(text);
    table.scenario = root.at("scenario").get<std::string>();
    table.kind = root.at("kind").get<std::string>();
    table.fixed = root.at("set").get<std::vector<std::string>>();
    for (const Json& axis : root.at("axes"))
      table.axes.push_back({axis.at("path").get<std::string>(), axis.at("values").get<std::vector<std::string>>()});
    table.objectives = root.at("objectives").get<std::vector<std::string>>();
    (void)objectives_of(table.objectives);
    for (const Json& entry : root.at("points")) table.points.push_back(point_of(entry, table.axes));
  } catch (const Json::exception& error) {
    throw InputError(InputProblem{where, 0, 0, "", error.what(),
                                  "what `stagecraft sweep` or `search` writes with --format json", ""});
  }
  return table;
}

}  // namespace stagecraft

#include "search/table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

/// RFC 4180: quoted where it must be.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return out + "\"";
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '|') {
      out += "\\|";
    } else {
      out += letter == '\n' ? ' ' : letter;
    }
  }
  return out;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Figures that the front and most readers want; CSV and JSON have all.
constexpr const char* markdown_keys[] = {"gpus", "step_time_s",     "tokens_per_s",
                                         "mfu",  "bubble_fraction", "peak_memory_bytes"};

std::string markdown_figure(const PointColumn& column, double value) {
  const std::string unit = column.unit;
  if (unit == "fraction") return fmt::format("{:.4f}", value);
  if (unit == "B") return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

}  // namespace

std::string points_csv(const PointTable& table) {
  std::string out = "point";
  for (const SweepAxis& axis : table.axes) out += "," + csv_cell(axis.path);
  out += ",status";
  for (const PointColumn& column : point_columns()) out += fmt::format(",{}", column.key);
  out += ",pareto,reason\n";
  for (const Point& point : table.points) {
    out += fmt::format("{}", point.number);
    for (const std::string& value : point.values) out += "," + csv_cell(value);
    out += "," + to_text(point.status);
    for (const PointColumn& column : point_columns())
      out += has_figures(point) ? fmt::format(",{}", point.figures.*column.member) : std::string(",");
    out += fmt::format(",{},{}\n", point.on_front ? 1 : 0, csv_cell(point.reason));
  }
  return out;
}

std::string points_json(const PointTable& table) {
  Json root = {
      {"version", 1},          {"scenario", table.scenario},     {"kind", table.kind},       {"set", table.fixed},
      {"axes", Json::array()}, {"objectives", table.objectives}, {"columns", Json::array()}, {"points", Json::array()}};
  for (const SweepAxis& axis : table.axes) root["axes"].push_back({{"path", axis.path}, {"values", axis.values}});
  for (const PointColumn& column : point_columns())
    root["columns"].push_back({{"key", column.key}, {"unit", column.unit}, {"meaning", column.meaning}});
  for (const Point& point : table.points) {
    Json entry = {{"point", point.number}, {"values", Json::object()}, {"status", to_text(point.status)}};
    for (std::size_t i = 0; i < table.axes.size(); ++i) entry["values"][table.axes[i].path] = point.values[i];
    if (has_figures(point)) {
      for (const PointColumn& column : point_columns()) entry[column.key] = point.figures.*column.member;
    }
    entry["pareto"] = point.on_front;
    entry["reason"] = point.reason;
    root["points"].push_back(std::move(entry));
  }
  return dump(root, 1) + "\n";
}

std::string points_markdown(const PointTable& table) {
  std::string out = "| point |", rule = "|---:|";
  for (const SweepAxis& axis : table.axes) out += " " + markdown_cell(axis.path) + " |", rule += "---|";
  out += " status |", rule += "---|";
  for (const char* key : markdown_keys) out += fmt::format(" {} |", key), rule += "---:|";
  out += " pareto | reason |\n" + rule + "---|---|\n";
  for (const Point& point : table.points) {
    out += fmt::format("| {} |", point.number);
    for (const std::string& value : point.values) out += " " + markdown_cell(value) + " |";
    out += " " + to_text(point.status) + " |";
    for (const char* key : markdown_keys) {
      const PointColumn& column = *find_point_column(key);
      out += has_figures(point) ? fmt::format(" {} |", markdown_figure(column, point.figures.*column.member)) : "  |";
    }
    out += fmt::format(" {} | {} |\n", point.on_front ? "*" : "", markdown_cell(point.reason));
  }
  return out;
}

std::string point_line(const Point& point) {
  Json entry = {{"point", point.number}, {"values", point.values}, {"status", to_text(point.status)}};
  Json figures = Json::array();
  for (const PointColumn& column : point_columns()) figures.push_back(point.figures.*column.member);
  entry["figures"] = std::move(figures);
  entry["reason"] = point.reason;
  return dump(entry, -1);
}

Point read_point_line(const std::string& text, const std::string& where) {
  const auto fail = [&](const std::string& expected) -> void {
    throw InputError(InputProblem{where, 0, 0, "", text.substr(0, 60), expected, ""});
  };
  Point point;
  try {
    const Json entry = Json::parse(text);
    point.number = entry.at("point").get<std::int64_t>();
    point.values = entry.at("values").get<std::vector<std::string>>();
    point.status = status_of(entry.at("status").get<std::string>());
    const auto figures = entry.at("figures").get<std::vector<double>>();
    if (figures.size() != point_columns().size()) fail("the figures of a point");
    for (std::size_t i = 0; i < figures.size(); ++i) point.figures.*point_columns()[i].member = figures[i];
    point.reason = entry.at("reason").get<std::string>();
  } catch (const Json::exception&) {
    fail("one finished point");
  }
  return point;
}

}  // namespace stagecraft

#include "search/sweep_journal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* form = "stagecraft sweep journal 1";
constexpr std::size_t largest_journal = std::size_t{4} << 30;

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{path, 0, 0, "", got, expected, ""});
}

}  // namespace

std::string journal_header(const SweepIdentity& identity) {
  Json axes = Json::array();
  for (const SweepAxis& axis : identity.axes) axes.push_back({{"path", axis.path}, {"values", axis.values}});
  const Json header = {{"form", form},
                       {"scenario", identity.scenario},
                       {"inputs", identity.inputs},
                       {"kind", identity.kind},
                       {"set", identity.fixed},
                       {"axes", axes},
                       {"objectives", identity.objectives}};
  return header.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SweepIdentity read_journal_header(const std::string& line, const std::string& path) {
  SweepIdentity identity;
  try {
    const Json header = Json::parse(line);
    if (header.at("form").get<std::string>() != form) refuse(path, header.at("form").dump(), form);
    identity.scenario = header.at("scenario").get<std::string>();
    identity.inputs = header.at("inputs").get<std::string>();
    identity.kind = header.at("kind").get<std::string>();
    identity.fixed = header.at("set").get<std::vector<std::string>>();
    for (const Json& axis : header.at("axes"))
      identity.axes.push_back({axis.at("path").get<std::string>(), axis.at("values").get<std::vector<std::string>>()});
    identity.objectives = header.at("objectives").get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    refuse(path, line.substr(0, 60), "a journal of stagecraft sweep");
  }
  (void)count_points(identity.axes);
  return identity;
}

Point read_journal_point(const std::string& line, const SweepIdentity& identity, const std::string& path) {
  Point point = read_point_line(line, path);
  const bool known = point.number >= 0 && point.number < count_points(identity.axes) &&
                     point.values == values_of_point(identity.axes, point.number);
  if (!known) refuse(path, fmt::format("point {}", point.number), "a point of this sweep");
  return point;
}

JournalContent read_journal(const std::string& path) {
  const std::string text = read_file(path, largest_journal);
  JournalContent content;
  std::size_t begin = 0;
  for (bool header = true; begin < text.size(); header = false) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    content.whole_bytes = begin;
    if (header) {
      content.identity = read_journal_header(line, path);
      continue;
    }
    Point point = read_journal_point(line, content.identity, path);
    content.points.insert_or_assign(point.number, std::move(point));
  }
  if (content.whole_bytes == 0 && !text.empty()) refuse(path, text.substr(0, 60), "a journal of stagecraft sweep");
  return content;
}

}  // namespace stagecraft

#include "search/sweep_journal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t largest_journal = std::size_t{4} << 30;

std::string form_of(const char* verb) {
  return fmt::format("stagecraft {} journal 1", verb);
}

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{path, 0, 0, "", got, expected, ""});
}

}  // namespace

std::string verb_of(const SweepIdentity& identity) {
  return identity.search ? "search" : "sweep";
}

std::string journal_header(const SweepIdentity& identity) {
  Json axes = Json::array();
  for (const SweepAxis& axis : identity.axes) axes.push_back({{"path", axis.path}, {"values", axis.values}});
  Json header = {{"form", form_of(verb_of(identity).c_str())},
                 {"scenario", identity.scenario},
                 {"inputs", identity.inputs},
                 {"kind", identity.kind},
                 {"set", identity.fixed},
                 {"axes", axes},
                 {"objectives", identity.objectives}};
  if (identity.shard.count > 1) header["shard"] = to_text(identity.shard);
  if (identity.search) header["options"] = identity.options;
  return header.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SweepIdentity read_journal_header(const std::string& line, const std::string& path) {
  SweepIdentity identity;
  try {
    const Json header = Json::parse(line);
    const std::string form = header.at("form").get<std::string>();
    identity.search = form == form_of("search");
    if (!identity.search && form != form_of("sweep")) refuse(path, header.at("form").dump(), form_of("sweep"));
    identity.scenario = header.at("scenario").get<std::string>();
    identity.inputs = header.at("inputs").get<std::string>();
    identity.kind = header.at("kind").get<std::string>();
    identity.fixed = header.at("set").get<std::vector<std::string>>();
    for (const Json& axis : header.at("axes"))
      identity.axes.push_back({axis.at("path").get<std::string>(), axis.at("values").get<std::vector<std::string>>()});
    identity.objectives = header.at("objectives").get<std::vector<std::string>>();
    if (header.contains("shard")) {
      const std::optional<Shard> shard = parse_shard(header.at("shard").get<std::string>());
      if (!shard) refuse(path, header.at("shard").dump(), "a shard, as in 2/8");
      identity.shard = *shard;
    }
    if (identity.search) identity.options = header.at("options").get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    refuse(path, line.substr(0, 60), "a journal of stagecraft sweep or search");
  }
  if (!identity.search) (void)count_points(identity.axes);
  return identity;
}

Point read_journal_point(const std::string& line, const SweepIdentity& identity, const std::string& path) {
  Point point = read_point_line(line, path);
  const bool known = point.number >= 0 && point.number < count_points(identity.axes) &&
                     holds(identity.shard, point.number) &&
                     point.values == values_of_point(identity.axes, point.number);
  if (!known) refuse(path, fmt::format("point {}", point.number), "a point of this sweep");
  return point;
}

std::size_t read_journal_lines(const std::string& path, const std::function<void(const SweepIdentity&)>& begin,
                               const std::function<void(const std::string& line)>& take) {
  const std::string text = read_file(path, largest_journal);
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    const std::string line = text.substr(at, end - at);
    if (at == 0) {
      begin(read_journal_header(line, path));
    } else {
      take(line);
    }
    at = end + 1;
  }
  if (at == 0 && !text.empty()) refuse(path, text.substr(0, 60), "a journal of stagecraft sweep or search");
  return at;
}

JournalContent read_journal(const std::string& path) {
  JournalContent content;
  content.whole_bytes = read_journal_lines(
      path,
      [&](const SweepIdentity& identity) {
        if (identity.search) refuse(path, "a journal of a search", "a journal of stagecraft sweep");
        content.identity = identity;
      },
      [&](const std::string& line) {
        Point point = read_journal_point(line, content.identity, path);
        content.points.insert_or_assign(point.number, std::move(point));
      });
  return content;
}

}  // namespace stagecraft

#include "journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "command_line.hpp"

namespace stagecraft::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* form = "stagecraft sweep journal 1";
constexpr std::size_t largest_journal = std::size_t{4} << 30;

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{path, 0, 0, "", got, expected, ""});
}

std::string header_of(const SweepIdentity& identity) {
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

SweepIdentity read_header(const std::string& line, const std::string& path) {
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
  return identity;
}

int open_file(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno != EEXIST && errno != ENOENT)
    refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  return descriptor;
}

}  // namespace

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
      content.identity = read_header(line, path);
      (void)count_points(content.identity.axes);
      continue;
    }
    Point point = read_point_line(line, path);
    const bool known = point.number >= 0 && point.number < count_points(content.identity.axes) &&
                       point.values == values_of_point(content.identity.axes, point.number);
    if (!known) refuse(path, fmt::format("point {}", point.number), "a point of this sweep");
    content.points.insert_or_assign(point.number, std::move(point));
  }
  if (content.whole_bytes == 0 && !text.empty()) refuse(path, text.substr(0, 60), "a journal of stagecraft sweep");
  return content;
}

Journal Journal::create(const std::string& path, const SweepIdentity& identity) {
  const int descriptor = open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
  if (descriptor < 0 && errno == EEXIST)
    throw UsageError(
        fmt::format("the journal {} of an earlier sweep is there; --resume goes on with it, --restart "
                    "throws it away",
                    path));
  if (descriptor < 0) refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  Journal journal(path, descriptor);
  journal.lock();
  journal.write_line(header_of(identity));
  return journal;
}

Journal Journal::resume(const std::string& path, const SweepIdentity& identity, JournalContent& found) {
  const int descriptor = open_file(path, O_WRONLY | O_APPEND);
  if (descriptor < 0) return create(path, identity);
  Journal journal(path, descriptor);
  journal.lock();
  found = read_journal(path);
  if (::ftruncate(descriptor, static_cast<off_t>(found.whole_bytes)) != 0)
    refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  if (found.whole_bytes == 0) {
    journal.write_line(header_of(identity));
  } else if (header_of(found.identity) != header_of(identity)) {
    refuse(path, "a journal of another sweep (its scenario, axes, options or a file that it reads differ)",
           "the journal of this one; --restart throws it away");
  }
  return journal;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Journal::Journal(Journal&& other) noexcept : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

void Journal::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  throw UsageError(fmt::format("another sweep is writing to the journal {}", path_));
}

void Journal::append(const Point& point) {
  write_line(point_line(point));
}

// In one write, so that a killed process leaves whole lines.
void Journal::write_line(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(descriptor_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) refuse(path_, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace stagecraft::cli

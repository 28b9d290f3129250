#include "trace/chrome_events.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

enum class Key : std::uint8_t { other, phase, pid, tid, ts, dur, id, name, category, args };

Key key_of(std::string_view name) {
  if (name == "ph") return Key::phase;
  if (name == "pid") return Key::pid;
  if (name == "tid") return Key::tid;
  if (name == "ts") return Key::ts;
  if (name == "dur") return Key::dur;
  if (name == "id") return Key::id;
  if (name == "name") return Key::name;
  if (name == "cat") return Key::category;
  if (name == "args") return Key::args;
  return Key::other;
}

/// Where the parser is: what the object or array that encloses it is.
enum class Place : std::uint8_t { top, events, event, args, other_data, distributed, ignored };

constexpr std::size_t deepest = 200;

class Handler {
 public:
  using Json = nlohmann::json;

  Handler(const std::string& path, ChromeFile& file, const std::function<void(const ChromeEvent&)>& event)
      : path_(path), file_(file), event_(event) {}

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(Json::number_integer_t value) { return number(static_cast<double>(value), value); }
  bool number_unsigned(Json::number_unsigned_t value) {
    return number(static_cast<double>(value), static_cast<std::int64_t>(value & 0x7fffffffffffffffU));
  }
  bool number_float(Json::number_float_t value, const std::string&) {
    const bool fits = value > -9e18 && value < 9e18;
    return number(value, fits ? static_cast<std::int64_t>(value) : 0);
  }
  bool binary(Json::binary_t&) { return true; }

  bool string(std::string& value) {
    if (place() == Place::event) {
      if (key_ == Key::phase) current_.phase = value.empty() ? '\0' : value.front();
      if (key_ == Key::name) current_.name.swap(value);
      if (key_ == Key::category) current_.category.swap(value);
    } else if (place() == Place::args) {
      if (arg_ == "op") current_.op.swap(value);
      if (arg_ == "name" || arg_ == "labels") current_.text.swap(value);
      if (arg_ == "Process Group Description") current_.group.swap(value);
    } else if (place() == Place::other_data) {
      if (arg_ == "producer")
        file_.producer.swap(value);
      else if (arg_ == "scenario")
        file_.scenario.swap(value);
      else if (arg_ == "kind")
        file_.kind.swap(value);
      else if (file_.other.size() < 4096)
        file_.other.emplace_back(arg_, value);
    }
    return true;
  }

  bool start_object(std::size_t) {
    Place next = Place::ignored;
    if (places_.empty()) {
      next = Place::top;
    } else if (place() == Place::events) {
      next = Place::event;
      clear(current_);
    } else if (place() == Place::event && key_ == Key::args) {
      next = Place::args;
    } else if (place() == Place::top && arg_ == "otherData") {
      next = Place::other_data;
    } else if (place() == Place::top && arg_ == "distributedInfo") {
      next = Place::distributed;
    }
    return enter(next);
  }

  bool key(std::string& name) {
    if (place() == Place::event) {
      key_ = key_of(name);
    } else {
      arg_.swap(name);
    }
    return true;
  }

  bool end_object() {
    if (place() == Place::event) event_(current_);
    places_.pop_back();
    return true;
  }

  bool start_array(std::size_t) {
    const bool events = places_.empty() || (place() == Place::top && arg_ == "traceEvents");
    saw_events_ = saw_events_ || events;
    return enter(events ? Place::events : Place::ignored);
  }

  bool end_array() {
    places_.pop_back();
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception&) {
    // The token may be a megabyte of text, and need not be UTF-8.
    std::string shown;
    for (const char c : std::string_view(token).substr(0, 40)) shown += c >= 0x20 && c < 0x7f ? c : '?';
    throw InputError(InputProblem{path_, 0, 0, "", fmt::format("no JSON at byte {}: \"{}\"", position, shown),
                                  "a whole JSON file of trace events", ""});
  }

  bool saw_events() const { return saw_events_; }

 private:
  Place place() const { return places_.empty() ? Place::ignored : places_.back(); }

  bool enter(Place next) {
    if (places_.size() >= deepest) {
      throw InputError(
          InputProblem{path_, 0, 0, "", fmt::format("more than {} levels of nesting", deepest), "trace events", ""});
    }
    places_.push_back(next);
    return true;
  }

  bool number(double value, std::int64_t whole) {
    if (place() == Place::event) {
      if (key_ == Key::pid) current_.pid = whole;
      if (key_ == Key::tid) current_.tid = whole;
      if (key_ == Key::ts) current_.ts_us = value;
      if (key_ == Key::dur) current_.dur_us = value;
      if (key_ == Key::id) current_.id = whole;
    } else if (place() == Place::args) {
      if (arg_ == "tensor_parallel_us") current_.tensor_us = value;
      if (current_.phase == 'C' && !current_.has_value) {
        current_.unit = arg_;
        current_.value = value;
        current_.has_value = true;
      }
    } else if (place() == Place::distributed && arg_ == "rank") {
      file_.rank = whole;
    }
    return true;
  }

  /// Keeps the memory of the texts.
  static void clear(ChromeEvent& event) {
    for (std::string* text : {&event.name, &event.category, &event.op, &event.text, &event.group, &event.unit}) {
      text->clear();
    }
    event.phase = 0;
    event.pid = event.tid = event.id = 0;
    event.ts_us = event.dur_us = event.tensor_us = event.value = 0;
    event.has_value = false;
  }

  const std::string& path_;
  ChromeFile& file_;
  const std::function<void(const ChromeEvent&)>& event_;
  std::vector<Place> places_;
  Key key_ = Key::other;
  std::string arg_;
  ChromeEvent current_;
  bool saw_events_ = false;
};

}  // namespace

ChromeFile read_chrome_events(const std::string& path, const std::function<void(const ChromeEvent&)>& event) {
  std::error_code problem;
  std::vector<char> buffer(std::size_t{1} << 20);
  std::ifstream stream;
  stream.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  if (std::filesystem::is_regular_file(path, problem)) stream.open(path, std::ios::binary);
  if (!stream.is_open()) throw InputError(InputProblem{path, 0, 0, "", "no such regular file", "a trace file", ""});
  ChromeFile file;
  Handler handler(path, file, event);
  nlohmann::json::sax_parse(stream, &handler);
  if (!handler.saw_events()) {
    throw InputError(InputProblem{path, 0, 0, "", "JSON without \"traceEvents\"",
                                  "a trace in Chrome's or Kineto's JSON format", ""});
  }
  return file;
}

}  // namespace stagecraft

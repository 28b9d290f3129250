#include "trace/chrome_events.hpp"

#include <fmt/core.h>

#include "base/input_error.hpp"
#include "trace/json_stream.hpp"

namespace stagecraft {
namespace {

using Type = JsonStream::Type;
constexpr std::size_t most_dependencies = 65536;  // of one slice

/// Keeps the memory of the texts.
void clear(ChromeEvent& event) {
  for (std::string* text : {&event.name, &event.category, &event.op, &event.text, &event.group, &event.unit}) {
    text->clear();
  }
  event.phase = 0;
  event.pid = event.tid = event.id = 0;
  event.ts_us = event.dur_us = event.tensor_us = event.value = 0;
  event.context_us = event.expert_us = event.data_us = event.copies_us = 0;
  event.has_value = false;
  event.span = -1;
  event.after.clear();
}

class Reader {
 public:
  Reader(const std::string& path, const std::function<void(const ChromeEvent&)>& event)
      : path_(path), in_(path, "a whole JSON file of trace events"), event_(event) {
    in_.place = [this] { return in_events_ ? fmt::format("/traceEvents/{}", index_) : std::string(); };
  }

  ChromeFile read() {
    if (in_.type() == Type::array) {
      events();
    } else if (in_.type() == Type::object) {
      in_.object([this](std::string_view key) { member(key); });
    } else {
      in_.skip();
    }
    in_.end();
    if (!saw_events_) {
      throw InputError(InputProblem{path_, 0, 0, "", "JSON without \"traceEvents\"",
                                    "a trace in Chrome's or Kineto's JSON format", ""});
    }
    return std::move(file_);
  }

 private:
  void member(std::string_view key) {
    const Type type = in_.type();
    if (key == "traceEvents" && type == Type::array) {
      events();
    } else if (key == "otherData" && type == Type::object) {
      in_.object([this](std::string_view name) { other_data(name); });
    } else if (key == "distributedInfo" && type == Type::object) {
      in_.object([this](std::string_view name) {
        if (name == "rank" && in_.type() == Type::number) {
          file_.rank = in_.number().whole;
        } else {
          in_.skip();
        }
      });
    } else if (key == "baseTimeNanoseconds" && type == Type::number) {
      file_.base_ns = in_.number().whole;
    } else {
      in_.skip();
    }
  }

  void other_data(std::string_view key) {
    if (in_.type() != Type::string) return in_.skip();
    if (key == "producer") {
      file_.producer = in_.string();
    } else if (key == "scenario") {
      file_.scenario = in_.string();
    } else if (key == "kind") {
      file_.kind = in_.string();
    } else if (file_.other.size() < 4096) {
      std::string name(key);
      file_.other.emplace_back(std::move(name), in_.string());
    } else {
      in_.skip();
    }
  }

  void events() {
    saw_events_ = in_events_ = true;
    index_ = 0;
    in_.array([this] {
      if (in_.type() == Type::object) {
        clear(current_);
        in_.object([this](std::string_view key) { field(key); });
        event_(current_);
      } else {
        in_.skip();
      }
      ++index_;
    });
    in_events_ = false;
  }

  void field(std::string_view key) {
    switch (in_.type()) {
      case Type::string:
        if (key == "ph") {
          const std::string_view phase = in_.string();
          current_.phase = phase.empty() ? '\0' : phase.front();
        } else if (key == "name") {
          current_.name = in_.string();
        } else if (key == "cat") {
          current_.category = in_.string();
        } else {
          in_.skip();
        }
        return;
      case Type::number:
        if (key == "ts") {
          current_.ts_us = in_.number().value;
        } else if (key == "dur") {
          current_.dur_us = in_.number().value;
        } else if (key == "pid") {
          current_.pid = in_.number().whole;
        } else if (key == "tid") {
          current_.tid = in_.number().whole;
        } else if (key == "id") {
          current_.id = in_.number().whole;
        } else {
          in_.skip();
        }
        return;
      case Type::object:
        if (key == "args") {
          in_.object([this](std::string_view name) { argument(name); });
          return;
        }
        [[fallthrough]];
      default:
        in_.skip();
    }
  }

  void add_dependency(std::int64_t number) {
    if (current_.after.size() == most_dependencies) {
      throw InputError(InputProblem{path_, 0, 0, fmt::format("/traceEvents/{}", index_),
                                    fmt::format("more than {} slices in \"after\"", most_dependencies), "fewer", ""});
    }
    current_.after.push_back(number);
  }

  void argument(std::string_view key) {
    const Type type = in_.type();
    if (type == Type::string && key == "op") {
      current_.op = in_.string();
    } else if (type == Type::string && (key == "name" || key == "labels")) {
      current_.text = in_.string();
    } else if (type == Type::string && key == "Process Group Description") {
      current_.group = in_.string();
    } else if (type == Type::number && key == "tensor_parallel_us") {
      current_.tensor_us = in_.number().value;
    } else if (type == Type::number && key == "context_parallel_us") {
      current_.context_us = in_.number().value;
    } else if (type == Type::number && key == "expert_parallel_us") {
      current_.expert_us = in_.number().value;
    } else if (type == Type::number && key == "data_parallel_us") {
      current_.data_us = in_.number().value;
    } else if (type == Type::number && key == "host_copies_us") {
      current_.copies_us = in_.number().value;
    } else if (type == Type::number && key == "span") {
      current_.span = in_.number().whole;
    } else if (type == Type::array && key == "after") {
      in_.array([this] { in_.type() == Type::number ? add_dependency(in_.number().whole) : in_.skip(); });
    } else if (type == Type::number && !current_.has_value) {
      current_.unit = key;
      current_.value = in_.number().value;
      current_.has_value = true;
    } else {
      in_.skip();
    }
  }

  const std::string& path_;
  JsonStream in_;
  const std::function<void(const ChromeEvent&)>& event_;
  ChromeFile file_;
  ChromeEvent current_;
  std::size_t index_ = 0;
  bool saw_events_ = false, in_events_ = false;
};

}  // namespace

ChromeFile read_chrome_events(const std::string& path, const std::function<void(const ChromeEvent&)>& event) {
  return Reader(path, event).read();
}

}  // namespace stagecraft

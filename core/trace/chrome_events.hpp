#pragma once
// Events of a Chrome or Kineto JSON file, one at a time.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stagecraft {

/// One entry of "traceEvents". Fields that the file lacks are empty or zero.
struct ChromeEvent {
  char phase = 0;  // X, M, C, s, f, ...
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  double ts_us = 0, dur_us = 0;
  std::int64_t id = 0;  // of a flow
  std::string name, category;
  // Of "args":
  std::string op;                   // stagecraft's full name of an operation
  std::int64_t span = -1;           // number of a slice among all of the file
  std::vector<std::int64_t> after;  // numbers of those that it could not begin before
  std::string text;                 // "name" or "labels" of metadata
  std::string group;                // Kineto's "Process Group Description"
  double tensor_us = 0, context_us = 0, expert_us = 0, data_us = 0, copies_us = 0;
  std::string unit;  // the key of the first number: of a counter, its unit
  double value = 0;
  bool has_value = false;
};

/// What stands beside the events. Complete only when the file has been read.
struct ChromeFile {
  std::string producer, scenario, kind;                    // of "otherData"
  std::vector<std::pair<std::string, std::string>> other;  // the rest of "otherData"
  std::int64_t rank = -1;                                  // Kineto's distributedInfo.rank
  std::int64_t base_ns = 0;  // Kineto's baseTimeNanoseconds, which its times are counted from
};

/// Reads a file as a stream: one event in memory at a time. Throws InputError with the event and the byte for what is
/// not JSON, for a file that is cut off, and for what trace/json_stream.hpp refuses; and for a file without events.
ChromeFile read_chrome_events(const std::string& path, const std::function<void(const ChromeEvent&)>& event);

}  // namespace stagecraft

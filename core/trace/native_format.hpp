#pragma once
// The native trace file: little-endian, a header and a sequence of chunks, each with kind, length and checksum. Written
// and read as a stream. docs/trace-format.md describes every byte.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "trace/trace.hpp"

namespace stagecraft {

inline constexpr std::uint32_t trace_format_version = 1;

/// Writes a trace as it comes to be. Order: one `head`, then spans, dependencies and counters in any order and any
/// number of pieces, then `finish`. Without `finish` no file appears. Throws InputError if the file cannot be written.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void head(const Trace& trace);  // everything but spans, dependencies and counters
  void spans(std::span<const Span> spans);
  void dependencies(std::span<const Dependency> dependencies);
  void counter(const CounterSeries& series);  // a series may come in several pieces of the same name and rank
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

void write_trace(const Trace& trace, const std::string& path);

/// What a reader is handed, piece by piece, in the order of the file; `head` comes first.
struct TraceSink {
  std::function<void(const Trace& head)> head;
  std::function<void(std::span<const Span>)> spans;
  std::function<void(std::span<const Dependency>)> dependencies;
  std::function<void(const CounterSeries&)> counter;
};

/// Streams a file through `sink` with one chunk in memory at a time. Throws InputError, with the byte offset, for
/// anything but a whole and consistent file: truncated, wrong checksum, another version, values out of range.
void read_trace(const std::string& path, const TraceSink& sink);

Trace read_trace(const std::string& path);

}  // namespace stagecraft

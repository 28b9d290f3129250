#pragma once
// A trace as Chrome trace-event JSON, for Perfetto and chrome://tracing: one process per rank, one thread per lane
// (more where transfers overlap), counters, an arrow from every send to what it was sent for.

#include <functional>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace stagecraft {

/// Writes the text piece by piece. Times are in microseconds with three digits; a slice is named as in PyTorch's
/// pipelining ("2F5").
void write_chrome_json(const Trace& trace, const std::function<void(std::string_view)>& write);

/// Throws InputError if the file cannot be written; no file appears then.
void write_chrome_json(const Trace& trace, const std::string& path);

}  // namespace stagecraft

#pragma once
// A timeline for the terminal: one line per rank.

#include <string>

#include "trace/trace.hpp"

namespace stagecraft {

/// A span begins with its letter and micro-batch ("F3") and is filled with '-'; idle time is '.'. Time is scaled so
/// that the names fit, or, where that takes more than `most_columns`, so that the picture does; then names are cut.
std::string timeline_text(const Trace& trace, bool colour, std::size_t most_columns = 400);

}  // namespace stagecraft

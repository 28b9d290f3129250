#pragma once
// Transfers of one lane overlap in time; pictures need rows in which spans do not.

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace stagecraft {

/// Times in whole nanoseconds, rounded once, so that spans that touch still touch.
struct SpanTime {
  std::int64_t begin_ns = 0, end_ns = 0;
};
SpanTime time_of(const Span& span);

/// Row of every span within its (rank, lane), 0 for all that do not overlap: the lowest row on which it overlaps
/// nothing but the operation that it is a segment of. Precondition: spans ordered by (rank, lane, begin, longest
/// first).
std::vector<std::uint16_t> sub_lanes(const Trace& trace);

}  // namespace stagecraft

#include "trace/sub_lanes.hpp"

#include <cmath>

namespace stagecraft {
namespace {

/// The open spans of one row, outermost first.
struct Row {
  std::vector<std::size_t> open;
};

bool is_segment_of(const Span& inner, const Span& outer) {
  return inner.segment >= 0 && outer.segment < 0 && inner.kind == outer.kind && inner.stage == outer.stage &&
         inner.micro_batch == outer.micro_batch && inner.step == outer.step;
}

bool fits(const Trace& trace, Row& row, std::size_t index) {
  const SpanTime time = time_of(trace.spans[index]);
  while (!row.open.empty() && time_of(trace.spans[row.open.back()]).end_ns <= time.begin_ns) row.open.pop_back();
  if (row.open.empty()) return true;
  const Span& outer = trace.spans[row.open.back()];
  return time.end_ns <= time_of(outer).end_ns && is_segment_of(trace.spans[index], outer);
}

}  // namespace

SpanTime time_of(const Span& span) {
  return {std::llround(span.begin_s * 1e9), std::llround(span.end_s * 1e9)};
}

std::vector<std::uint16_t> sub_lanes(const Trace& trace) {
  std::vector<std::uint16_t> row_of(trace.spans.size(), 0);
  std::vector<Row> rows;
  for (const SpanRange& lane : lanes_of(trace)) {
    rows.clear();
    for (std::size_t i = lane.first; i < lane.last; ++i) {
      std::size_t row = 0;
      while (row < rows.size() && !fits(trace, rows[row], i)) ++row;
      if (row == rows.size()) rows.emplace_back();
      rows[row].open.push_back(i);
      row_of[i] = static_cast<std::uint16_t>(row);
    }
  }
  return row_of;
}

}  // namespace stagecraft

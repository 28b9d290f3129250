#include "report/timeline_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/text_style.hpp"
#include "report/timeline_rows.hpp"

namespace stagecraft {
namespace {

std::string label_of(const Span& span) {
  const std::string letter = paint(paint_of(span.kind)).letter;
  return span.micro_batch >= 0 ? letter + fmt::format("{}", span.micro_batch) : letter;
}

/// Columns per second.
double scale_of(const Trace& trace, const std::vector<TimelineRow>& rows, std::size_t most_columns) {
  double wanted = 0;
  for (const TimelineRow& row : rows) {
    for (const std::uint32_t index : row.spans) {
      const Span& span = trace.spans[index];
      wanted = std::max(wanted, static_cast<double>(label_of(span).size()) / (span.end_s - span.begin_s));
    }
  }
  const double length = std::max(trace.end_s - trace.begin_s, std::numeric_limits<double>::min());
  return std::min(wanted, static_cast<double>(most_columns) / length);
}

}  // namespace

std::string timeline_text(const Trace& trace, bool colour, std::size_t most_columns) {
  const TextStyle style{colour};
  const std::vector<TimelineRow> rows = timeline_rows(trace, false);
  const double scale = scale_of(trace, rows, most_columns);
  const auto column_of = [&](double time_s) {
    return static_cast<std::size_t>(std::llround((time_s - trace.begin_s) * scale));
  };
  const std::size_t columns = column_of(trace.end_s);
  std::string out;
  for (const TimelineRow& row : rows) {
    out += fmt::format("rank {:>3} |", row.rank);
    std::size_t at = 0;
    for (const std::uint32_t index : row.spans) {
      const Span& span = trace.spans[index];
      const std::size_t begin = std::max(column_of(span.begin_s), at), end = column_of(span.end_s);
      if (end <= begin) continue;
      out += style.faint(std::string(begin - at, '.'));
      std::string cell = label_of(span).substr(0, end - begin);
      cell.resize(end - begin, '-');
      out += style.of_code(paint(paint_of(span.kind)).ansi, cell);
      at = end;
    }
    out += style.faint(std::string(columns - std::min(at, columns), '.')) + "|\n";
  }
  return out;
}

}  // namespace stagecraft

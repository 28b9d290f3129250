#pragma once
// One point of a sweep or search: what was varied, what came out, and the columns in which every format prints it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

enum class PointStatus : std::uint8_t {
  ok,            // runs and fits
  does_not_fit,  // timed, but some GPU's memory overflows
  infeasible,    // cannot run; `reason` says why
  failed         // the process that worked on it ended; `reason` says how
};
std::string to_text(PointStatus status);
PointStatus status_of(std::string_view text);  // of anything else: failed

/// Figures of a report by their keys (docs/report.md); 0 where there are none.
struct PointFigures {
  double gpus = 0;
  double step_time_s = 0, tokens_per_s = 0, tokens_per_s_per_gpu = 0;
  double tflops_per_gpu = 0, mfu = 0, hfu = 0, bubble_fraction = 0;
  double peak_memory_bytes = 0, memory_limit_bytes = 0;
  double goodput = 0, training_time_s = 0, cost_per_million_tokens = 0, joules_per_token = 0;
};

struct Point {
  std::int64_t number = 0;          // from 0, the last axis fastest
  std::vector<std::string> values;  // one per axis
  PointStatus status = PointStatus::ok;
  PointFigures figures;
  std::string reason;
  bool on_front = false;  // no other point that fits is better in one objective and as good in all others
};

/// Of points that ran out of memory too: how long a step would take, and how much it lacks.
bool has_figures(const Point& point);

/// A column with a figure; `number`, the axes, `status`, `pareto` and `reason` are the others.
struct PointColumn {
  const char* key;   // with its unit: "step_time_s"
  const char* unit;  // "s", "tokens/s", "fraction", ...
  const char* meaning;
  double PointFigures::*member;
  bool more_is_better;
};
std::span<const PointColumn> point_columns();

/// nullptr if there is no such column.
const PointColumn* find_point_column(std::string_view key);

/// Throws InputError with the nearest key unless every word names a column.
std::vector<const PointColumn*> objectives_of(const std::vector<std::string>& keys);

/// Sets on_front: among points with status ok, those that no other one dominates. Equal points are on it together.
void mark_front(std::vector<Point>& points, const std::vector<const PointColumn*>& objectives);

}  // namespace stagecraft

#pragma once
// Where the last step of a trace went: per rank, on average over the ranks, and along the critical path. The
// definitions are in docs/report.md ("Where the step goes"); every breakdown adds up to the step time.

#include <cstdint>
#include <vector>

#include "trace/time_class.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

struct RankSummary {
  TraceRank rank;
  Breakdown seconds{};
};

/// The chain of spans that set the step time, walked back from the last end: before each span the predecessor that
/// ended last.
struct CriticalPath {
  Breakdown seconds{};
  std::int32_t busiest_rank = -1;    // the rank on which the path computes longest
  std::vector<std::uint32_t> spans;  // in the order of time
};

struct Summary {
  double begin_s = 0, end_s = 0;  // of what is summarised
  double step_s = 0;              // what the breakdowns add up to
  std::vector<RankSummary> ranks;
  Breakdown mean{};            // over all ranks, each counted as often as it stands for others
  double bubble_fraction = 0;  // bubble(mean) / step time
  CriticalPath critical_path;
};

/// Summarises step `step` (default: the last). The step lasts from the end of the step before to its own end.
/// Preconditions: spans ordered by (rank, lane, begin); at least one step.
Summary summarise(const Trace& trace, std::int32_t step = -1);

/// The same of any stretch of time within the trace.
Summary summarise_between(const Trace& trace, double begin_s, double end_s);

}  // namespace stagecraft

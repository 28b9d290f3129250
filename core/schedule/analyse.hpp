#pragma once
// Times a schedule from stage times alone, without a model and without lowering: makespan, bubble, live activations,
// messages.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "schedule/stage_times.hpp"

namespace stagecraft {

/// Start and end of one operation, in the unit of the StageTimes. An operation of no duration (communication,
/// optimizer) stands where its rank's clock is.
struct OpSpan {
  double start = 0, end = 0;
};

struct RankAnalysis {
  double first_start = 0, last_end = 0;
  double busy = 0;  // sum of the durations of its operations
  /// Most activations alive at once, in micro-batches of a full-depth stage (1/v per chunk): from the start of F to the
  /// end of W or B; and the same where a split backward frees at the end of I already.
  double peak_activations = 0, peak_freed_at_input_grad = 0;
};

struct Analysis {
  bool complete = true;  // false: some operation never gets its input; what follows covers the others
  std::vector<RankAnalysis> ranks;
  std::vector<std::vector<OpSpan>> spans;  // [rank][position]
  double makespan = 0;                     // from 0 to the last end on any rank
  double span = 0;                         // largest over ranks of last end - first start
  double most_busy = 0;                    // busy time of the busiest rank
  std::int64_t messages = 0;               // activations and gradients that go from one rank to another
};

/// The two bubbles in use. A step between two barriers costs the makespan; the papers on zero-bubble schedules count
/// the span, which a step costs only where its start may overlap the end of the step before (arXiv 2401.10241, section
/// 4).
inline double makespan_bubble(const Analysis& a) {
  return a.makespan - a.most_busy;
}
inline double span_bubble(const Analysis& a) {
  return a.span - a.most_busy;
}
double makespan_bubble_rate(const Analysis& a);  // share of the makespan; 0 for an empty schedule
double span_bubble_rate(const Analysis& a);

/// Every rank runs its list in order, each operation as early as its inputs are there: F(s,i) after F(s-1,i), B and I
/// after F(s,i) and the gradient of s+1, W after I; a recompute takes the time of its forward and waits for the
/// gradient. A message takes `times.send` and holds nobody but its receiver. An overlapped pair takes `times.pair` as
/// one block if given, else runs in turn. Linear in the operations. Preconditions: stages, micro-batches and replicas
/// within the schedule's shape; `times` has no, one or stage_count entries.
Analysis analyse(const Schedule& schedule, const StageTimes& times);

}  // namespace stagecraft

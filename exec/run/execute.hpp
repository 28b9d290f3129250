#pragma once
// Runs a job on one rank and brings everybody's measurements together.

#include <functional>
#include <vector>

#include "exec/run/rank_executor.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

struct ExecuteResult {
  std::vector<StepResult> steps;  // warm-up included; losses are known on every rank
  Trace trace;                    // of the measured steps, on rank 0; empty elsewhere
  double clock_skew_s = 0;        // what remains uncertain between the ranks' clocks
};

/// What a rank's surroundings ask of it; each may be empty.
struct RankHooks {
  MemoryMeter* meter = nullptr;                        // what its allocations are charged to
  Whereabouts* whereabouts = nullptr;                  // kept up to date
  std::function<void()> between;                       // called by every rank before each measured step, when nothing
                                                       // is under way; its time is cut out of the trace
  std::function<void(std::int32_t steps)> after_step;  // how many are done, warm-up included
};

/// Runs options.warmup + options.steps steps. Throws RankFailure (or what the set-up throws); what this rank had
/// measured until then is in `until_failure`.
ExecuteResult execute(const JobInputs& inputs, Transport& transport, const RankHooks& hooks,
                      std::vector<RecordedOp>& until_failure);

/// The operations of a job that did not come to its end, by rank, as one trace.
Trace partial_trace(const JobInputs& inputs, const char* transport, std::vector<std::vector<RecordedOp>> ops);

/// The recorded operations of one rank as spans; times count from `origin_s`. `first_step` is the first that is kept.
/// A recomputed forward is done block by block inside the backward behind it: its span is put before that backward's,
/// and the two share the time in proportion.
void append_spans(const JobInputs& inputs, std::int32_t rank, const std::vector<RecordedOp>& ops,
                  std::int32_t first_step, double origin_s, Trace& trace);

/// Dependencies between the spans of `trace` from the schedule's graph, for every column of the job. Sorts the spans.
void connect_spans(const JobInputs& inputs, Trace& trace);

}  // namespace stagecraft

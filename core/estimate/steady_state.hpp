#pragma once
// Schedules without a flush: what a step costs once the pipeline is full.

#include "schedule/schedule.hpp"
#include "trace/summary.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// What a report tells of a trace: the last step, or, of an asynchronous schedule, its steady state: the stretch
/// between the backwards of micro-batches p-1 and m-p-1 through the first stage, scaled to m micro-batches, plus what
/// the ranks do once per batch only (the optimizer step of PipeDream-2BW). The reduction of a batch's gradients runs
/// beside the next batch, whose weights do not wait for it (arXiv 2006.09503, section 3.1); one that takes longer than
/// a batch sets the pace. `cold` is set if m is too small (below 2p+1)
/// to hold such a stretch; then the last step is told.
struct SteadySummary {
  Summary summary;
  bool cold = false;
};
SteadySummary summarise(const Trace& trace, const Schedule& schedule);

}  // namespace stagecraft

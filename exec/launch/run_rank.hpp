#pragma once
// One rank, from its thread's set-up to its result or report.

#include <variant>

#include "exec/launch/rank_report.hpp"

namespace stagecraft {

/// What the process around a rank asks of it; may be empty.
struct RankWatch {
  Whereabouts* whereabouts = nullptr;
  std::function<void(std::int32_t steps)> after_step;
};

struct RankOutcome {
  ExecuteResult result;  // if nothing failed
  std::optional<RankReport> failure;
  std::vector<RecordedOp> operations;  // what was measured until a failure
};

/// Sets the thread up (threads, core, memory listening, a stream of its own on a GPU) and runs the job's steps. Never
/// throws; a failure aborts the job.
RankOutcome run_rank(const Job& job, const JobArguments& arguments, Transport& transport, std::int32_t local_rank,
                     AllocationOwners& owners, const RankWatch& watch = {});

/// Pins the calling thread to the n-th of the cores that it may run on. False if there are fewer.
bool pin_to_core(std::int32_t n);

}  // namespace stagecraft

// The global batch falls into whole micro-batches on every data rank, and the schedule stays of a size that can be
// held.
#include <fmt/format.h>

#include <algorithm>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

namespace {

/// Refuses what would take minutes and many gigabytes. The nearest value is one that this check lets pass.
void check_size(const RunSpec& run, std::int64_t micro_batches, Findings& findings) {
  const std::int64_t stages = run.parallel.pipeline * run.parallel.virtual_stages;
  const std::int64_t of_micro_batch = stages * run.steps;  // at most 2^40 * 255
  if (of_micro_batch <= largest_schedule && micro_batches <= largest_schedule / of_micro_batch) return;
  const auto refuse = [&](const char* pointer, std::int64_t nearest) {
    findings.push_back({Severity::error, "scenario-too-large", pointer,
                        fmt::format("{} micro-batches through {} stages in {} step{} are too many to play: at most {} "
                                    "in all, as their product",
                                    micro_batches, stages, run.steps, run.steps == 1 ? "" : "s", largest_schedule),
                        fmt::format("{}", nearest)});
  };
  if (stages > largest_schedule) {
    const bool fewer_chunks = run.parallel.pipeline <= largest_schedule;
    refuse(fewer_chunks ? "/parallel/virtual_stages" : "/parallel/pipeline",
           fewer_chunks ? largest_schedule / run.parallel.pipeline : largest_schedule);
  } else if (run.steps > 1 && micro_batches <= largest_schedule / stages) {
    refuse("/steps", largest_schedule / (stages * micro_batches));
  } else if (of_micro_batch > largest_schedule) {
    refuse("/steps", largest_schedule / stages);
  } else {
    refuse("/batch/global", largest_schedule / of_micro_batch * run.batch.micro * run.parallel.data);
  }
}

void check_ramp_up(const BatchSpec& batch, std::int64_t share, Findings& findings) {
  const RampUpSpec& ramp = *batch.ramp_up;
  const auto refuse = [&](const char* pointer, const std::string& message, std::int64_t nearest) {
    findings.push_back({Severity::error, "ramp-up", pointer, message, fmt::format("{}", nearest)});
  };
  const auto whole = [&](std::int64_t value) { return std::max<std::int64_t>(1, value / share) * share; };
  if (ramp.start % share != 0 || ramp.start > batch.global) {
    refuse("/batch/ramp_up/start",
           fmt::format("{} sequences cannot be split into micro-batches of {} on all data ranks, or are more than the "
                       "whole batch of {}",
                       ramp.start, batch.micro, batch.global),
           std::min(whole(ramp.start), whole(batch.global)));
    return;
  }
  const std::int64_t growth = batch.global - ramp.start;
  if (ramp.increment % share == 0 && growth % ramp.increment == 0) return;
  std::int64_t nearest = whole(ramp.increment);
  while (nearest > share && growth % nearest != 0) nearest -= share;
  refuse("/batch/ramp_up/increment",
         fmt::format("steps of {} sequences do not lead from {} to {} in whole micro-batches on all data ranks",
                     ramp.increment, ramp.start, batch.global),
         nearest);
}

}  // namespace

void check_batch(const Scenario& scenario, Findings& findings) {
  const RunSpec& run = scenario.run;
  const ParallelSpec& parallel = run.parallel;
  const std::int64_t share = run.batch.micro * parallel.data;  // both are below 2^31
  if (run.batch.global % share != 0) {
    const std::int64_t below = run.batch.global / share * share;
    findings.push_back({Severity::error, "batch-not-divisible", "/batch/global",
                        fmt::format("{} sequences cannot be split into micro-batches of {} on {} data ranks",
                                    run.batch.global, run.batch.micro, parallel.data),
                        below == 0 ? fmt::format("{}", share) : fmt::format("{} or {}", below, below + share)});
  }
  if (run.batch.ramp_up && run.batch.global % share == 0) check_ramp_up(run.batch, share, findings);
  const std::int64_t micro_batches = std::max<std::int64_t>(1, run.batch.global / share);
  check_size(run, micro_batches, findings);
}

}  // namespace stagecraft

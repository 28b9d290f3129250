// The global batch falls into whole micro-batches on every data rank, and the schedule stays of a size that can be
// held.
#include <fmt/format.h>

#include <algorithm>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

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
  const std::int64_t micro_batches = std::max<std::int64_t>(1, run.batch.global / share);
  const std::int64_t stages = parallel.pipeline * parallel.virtual_stages;
  if (stages > largest_schedule || micro_batches > largest_schedule / stages) {
    findings.push_back(
        {Severity::error, "schedule-too-large", "/batch/global",
         fmt::format("{} micro-batches on {} stages exceed {} in all", micro_batches, stages, largest_schedule),
         fmt::format("{}", std::max<std::int64_t>(1, largest_schedule / stages) * share)});
  }
  if (run.zero_stage < 0 || run.zero_stage > 3) {
    findings.push_back({Severity::error, "out-of-range", "/zero_stage",
                        fmt::format("{} is no ZeRO stage", run.zero_stage), run.zero_stage < 0 ? "0" : "3"});
  }
  if (run.zero_stage >= 1 && parallel.data * parallel.context == 1) {
    findings.push_back({Severity::warning, "zero-without-data", "/zero_stage",
                        "training states are sharded over the data group, which has one rank: it changes nothing",
                        "0"});
  }
}

}  // namespace stagecraft

// The run around the step.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

void check_training(const Scenario& scenario, Findings& findings) {
  const FailureSpec& failures = scenario.run.training.failures;
  const ParallelSpec& parallel = scenario.run.parallel;
  const double gpus = static_cast<double>(parallel.tensor) * static_cast<double>(parallel.context) *
                      static_cast<double>(parallel.data) * static_cast<double>(parallel.pipeline);
  const double per_s = failure_rate(failures, gpus);
  if (per_s * failures.checkpoint_s <= 1) return;
  findings.push_back({Severity::warning, "no-progress", "/training/failures/checkpoint_s",
                      fmt::format("a failure every {:.3g} s, and a checkpoint takes {:.3g} s: hardly any work outlives "
                                  "the next failure",
                                  1 / per_s, failures.checkpoint_s),
                      fmt::format("{:.3g}", 0.1 / per_s)});
}

}  // namespace stagecraft

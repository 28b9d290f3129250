#pragma once
// What the executor can run and what it can't, known without it: `check` says so long before a cluster is booked.
// Nothing is downgraded; what is missing is refused before start, with the reason.

#include <string>
#include <vector>

#include "base/findings.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// Every reason at once; empty: it runs. `schedule` may be lowered or not; `cpu`: on CPU cores instead of GPUs. Codes:
///   execute-asynchronous, execute-replicas, execute-post-validation, execute-fp8, execute-tf32, execute-dropout,
///   execute-context, execute-attention, execute-recipe, execute-optimizer, execute-shard-unit, execute-shard-group,
///   execute-offload, execute-recompute, execute-loss-kernel, execute-experts, execute-plain-tensor,
///   execute-plain-layer, execute-plain-width, execute-rows, execute-overlap-tensor, execute-tied-zero3, execute-zero
Findings execution_refusals(const Plan& plan, const Schedule& schedule, bool cpu);

/// One line of the support matrix that `stagecraft-exec support` and the docs print.
struct SupportLine {
  const char* feature;
  const char* state;  // "runs", or the reason for refusing it
};
std::vector<SupportLine> support_matrix();

/// Widths of a plain layer, or why it can't be run: only layers whose figures are those of a linear layer with bias
/// (parameters = out * (in + 1), FLOPs = 2 in out per sample, output = out numbers) have a known computation.
struct PlainWidths {
  std::int64_t in = 0, out = 0;
  std::string problem;
};
PlainWidths plain_widths(const PlainLayerSpec& layer, double bytes_per_number);

}  // namespace stagecraft

// Experts and latent attention: who can hold them, and what is not modelled of them.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"
#include "plan/untimed.hpp"

namespace stagecraft {

void check_experts(const Scenario& scenario, Findings& findings) {
  const ModelSpec& model = scenario.model;
  const ParallelSpec& parallel = scenario.run.parallel;
  if (!model.plain_layers.empty()) return;
  if (model.moe.experts == 0 && parallel.expert > 1) {
    findings.push_back({Severity::error, "expert-degree", "/parallel/expert",
                        fmt::format("{} ranks for experts, and the model has none", parallel.expert), "1"});
  }
  if (model.moe.experts > 0) {
    const std::int64_t ranks = parallel.data * parallel.context;
    const auto works = [&](std::int64_t degree) { return ranks % degree == 0 && model.moe.experts % degree == 0; };
    if (!works(parallel.expert)) {
      findings.push_back({Severity::error, "expert-degree", "/parallel/expert",
                          fmt::format("{} experts and a data and context group of {} do not both divide by {}",
                                      model.moe.experts, ranks, parallel.expert),
                          nearest_values(parallel.expert, ranks, works)});
    }
    findings.push_back({Severity::error, untimed_code, "/model/moe",
                        "the time of experts is not modelled; `stagecraft memory` shows what they need", ""});
  }
  if (model.attention.latent.kv_rank > 0) {
    findings.push_back({Severity::error, untimed_code, "/model/attention/latent",
                        "the time of latent attention is not modelled; `stagecraft memory` shows what it needs", ""});
  }
}

}  // namespace stagecraft

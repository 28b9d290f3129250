// Experts and latent attention: who can hold them.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {
namespace {

void refuse_without_experts(const ParallelSpec& parallel, Findings& findings) {
  struct Unused {
    const char* pointer;
    std::int64_t degree, usual;
  };
  for (const Unused& unused :
       {Unused{"/parallel/expert", parallel.expert, 1}, Unused{"/parallel/expert_tensor", parallel.expert_tensor, 0}}) {
    if (unused.degree <= 1) continue;
    findings.push_back({Severity::error, "expert-degree", unused.pointer,
                        fmt::format("{} ranks for experts, and the model has none", unused.degree), "1"});
  }
}

void check_degrees(const Scenario& scenario, Findings& findings) {
  const ParallelSpec& parallel = scenario.run.parallel;
  const MoeSpec& moe = scenario.model.moe;
  const std::int64_t part = parallel.tensor * parallel.data * parallel.context;
  const std::int64_t tensor = expert_tensor_of(parallel);
  if (part % tensor != 0 || moe.ffn_hidden % tensor != 0) {
    findings.push_back({Severity::error, "expert-tensor-degree", "/parallel/expert_tensor",
                        fmt::format("{} ranks of a pipeline rank's part and experts of inner width {} do not both "
                                    "divide by {} ranks that share an expert",
                                    part, moe.ffn_hidden, tensor),
                        nearest_values(tensor, part, [&](std::int64_t degree) {
                          return part % degree == 0 && moe.ffn_hidden % degree == 0;
                        })});
    return;
  }
  const std::int64_t ranks = part / tensor;
  const auto works = [&](std::int64_t degree) { return ranks % degree == 0 && moe.experts % degree == 0; };
  if (works(parallel.expert)) return;
  findings.push_back({Severity::error, "expert-degree", "/parallel/expert",
                      fmt::format("{} experts and {} ranks (tensor x context x data over expert_tensor) do not both "
                                  "divide by {}",
                                  moe.experts, ranks, parallel.expert),
                      nearest_values(parallel.expert, ranks, works)});
}

}  // namespace

void check_experts(const Scenario& scenario, Findings& findings) {
  const ModelSpec& model = scenario.model;
  const RunSpec& run = scenario.run;
  if (!model.plain_layers.empty()) return;
  if (model.moe.experts == 0) return refuse_without_experts(run.parallel, findings);
  check_degrees(scenario, findings);
  if (run.parallel.tensor > 1 && !run.parallel.sequence_parallel) {
    findings.push_back({Severity::warning, "experts-without-sequence-parallel", "/parallel/sequence_parallel",
                        "every tensor rank routes all tokens: the work of the experts is done once per tensor rank "
                        "(Megatron-LM refuses this)",
                        "true"});
  }
  if (run.offload.activations != Home::gpu) {
    findings.push_back({Severity::error, "offload-of-experts", "/offload/activations",
                        "what experts keep depends on the routing and is not moved to the host", "gpu"});
  }
}

}  // namespace stagecraft

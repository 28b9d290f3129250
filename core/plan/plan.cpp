#include "plan/plan.hpp"

#include <cassert>

#include "plan/untimed.hpp"

namespace stagecraft {
namespace {

/// Nothing stands in the way of a plan; that time is not modelled does not.
[[maybe_unused]] bool can_be_planned(const Scenario& scenario) {
  Findings findings = check_layout(scenario);
  std::erase_if(findings, [](const Finding& finding) { return finding.code == untimed_code; });
  return !has_errors(findings);
}

}  // namespace

Plan make_plan(const Scenario& scenario) {
  assert(can_be_planned(scenario));
  const ParallelSpec& parallel = scenario.run.parallel;
  Plan plan;
  plan.model = scenario.model;
  plan.run = scenario.run;
  plan.gpu = scenario.cluster.gpu;
  plan.degrees = {static_cast<std::int32_t>(parallel.tensor), static_cast<std::int32_t>(parallel.context),
                  static_cast<std::int32_t>(parallel.data), static_cast<std::int32_t>(parallel.pipeline)};
  plan.degrees.shard = static_cast<std::int32_t>(scenario.run.sharding.group);
  plan.micro_batches =
      static_cast<std::int32_t>(scenario.run.batch.global / (scenario.run.batch.micro * parallel.data));
  plan.layers = layers_of(scenario.model);
  plan.stages = partition_layers(scenario.model, scenario.run);
  return plan;
}

GpuId gpu_of(const Plan&, Rank rank) {
  return gpu_at(rank);
}

std::int64_t padded_vocabulary(const Plan& plan) {
  return padded_vocabulary(plan.model.vocabulary, plan.degrees.tensor);
}

Rank representative(const Plan& plan, PipelineRank at) {
  return rank_at(plan.degrees, Coordinates{0, 0, 0, at.value});
}

}  // namespace stagecraft

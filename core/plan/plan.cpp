#include "plan/plan.hpp"

#include <cassert>

namespace stagecraft {

Plan make_plan(const Scenario& scenario) {
  assert(!has_errors(check_layout(scenario)));
  const ParallelSpec& parallel = scenario.run.parallel;
  Plan plan;
  plan.model = scenario.model;
  plan.run = scenario.run;
  plan.gpu = scenario.cluster.gpu;
  plan.degrees = {static_cast<std::int32_t>(parallel.tensor), static_cast<std::int32_t>(parallel.context),
                  static_cast<std::int32_t>(parallel.data), static_cast<std::int32_t>(parallel.pipeline)};
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

#include "plan/plan.hpp"

#include <cassert>

#include "plan/expert_load.hpp"
#include "plan/placement.hpp"

namespace stagecraft {

std::int64_t ulysses_degree(const ParallelSpec& parallel) {
  switch (parallel.context_method) {
    case ContextMethod::ulysses:
      return parallel.context;
    case ContextMethod::combined:
      return parallel.ulysses;
    case ContextMethod::ring:
    case ContextMethod::all_gather:
      break;
  }
  return 1;
}

Plan make_plan(const Scenario& scenario) {
  assert(!has_errors(check_layout(scenario)));
  const ParallelSpec& parallel = scenario.run.parallel;
  Plan plan;
  plan.model = scenario.model;
  plan.run = scenario.run;
  plan.gpu = scenario.cluster.gpu;
  plan.degrees = {static_cast<std::int32_t>(parallel.tensor), static_cast<std::int32_t>(parallel.context),
                  static_cast<std::int32_t>(parallel.data), static_cast<std::int32_t>(parallel.pipeline)};
  plan.degrees.shard = static_cast<std::int32_t>(scenario.run.sharding.group);
  plan.degrees.secondary = static_cast<std::int32_t>(scenario.run.sharding.secondary);
  plan.degrees.expert = static_cast<std::int32_t>(parallel.expert);
  plan.degrees.expert_tensor = static_cast<std::int32_t>(parallel.expert_tensor);
  plan.degrees.ulysses = static_cast<std::int32_t>(ulysses_degree(parallel));
  plan.micro_batches =
      static_cast<std::int32_t>(scenario.run.batch.global / (scenario.run.batch.micro * parallel.data));
  plan.layers = layers_of(scenario.model);
  plan.stages = partition_layers(scenario.model, scenario.run);
  plan.busiest_expert_rank = busiest_expert_rank(plan);
  plan.gpus = placed(plan.degrees, parallel.placement, gpus_per_node(scenario.cluster.node));
  return plan;
}

GpuId gpu_of(const Plan& plan, Rank rank) {
  return plan.gpus.empty() ? GpuId(rank.value) : plan.gpus[rank.index()];
}

std::int64_t encoder_length(const Plan& plan) {
  return plan.model.encoder_sequence_length > 0 ? plan.model.encoder_sequence_length : plan.run.sequence_length;
}

std::int64_t padded_vocabulary(const Plan& plan) {
  return padded_vocabulary(plan.model.vocabulary, plan.degrees.tensor);
}

Rank representative(const Plan& plan, PipelineRank at) {
  return rank_at(plan.degrees, Coordinates{0, 0, 0, at.value});
}

}  // namespace stagecraft

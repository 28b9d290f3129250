#include "schedule/lower.hpp"

namespace stagecraft {

LoweringPolicy lowering_policy(const Plan& plan) {
  const bool data_parallel = plan.degrees.data * plan.degrees.context > 1;
  LoweringPolicy policy;
  // Sharded block by block, gathers and reductions are part of every pass.
  const bool by_block = plan.run.sharding.unit == ShardUnit::block;
  policy.recompute = plan.run.recompute == Recompute::full || plan.run.recompute == Recompute::per_op;
  // Parameters on the host come for each use even if nobody else holds a part of them.
  policy.offload_parameters = plan.run.offload.parameters != Home::gpu && !by_block;
  policy.offload_optimizer = plan.run.offload.optimizer != Home::gpu;
  policy.offload_activations = plan.run.offload.activations != Home::gpu && plan.model.plain_layers.empty();
  policy.shard_parameters = plan.run.zero_stage >= 3 && (data_parallel || policy.offload_parameters) && !by_block;
  policy.unshard_prefetch = static_cast<std::int32_t>(1 + plan.run.sharding.prefetch);
  policy.reduce_grad = data_parallel && !reduces_in_backward(plan.run.zero_stage, plan.run.sharding);
  policy.overlap_reduce = plan.run.overlap.gradient_reduce;
  policy.reduce_tied = plan.model.plain_layers.empty() && plan.model.tied_embeddings;
  policy.gather_params = (plan.run.zero_stage == 1 || plan.run.zero_stage == 2) && data_parallel;
  policy.overlap_gather = plan.run.overlap.parameter_gather;
  policy.receive_placement = plan.run.receive_placement;
  policy.overlap_pipeline = plan.run.overlap.pipeline;
  return policy;
}

Schedule lower(Schedule compute, const Plan& plan) {
  return attach_bodies(lower(std::move(compute), lowering_policy(plan)), plan);
}

}  // namespace stagecraft

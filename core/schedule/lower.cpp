#include "schedule/lower.hpp"

namespace stagecraft {

Schedule lower(Schedule schedule, const LoweringPolicy& policy) {
  if (policy.recompute) schedule = add_recompute(std::move(schedule));
  if (policy.shard_parameters) schedule = add_unshard(std::move(schedule), policy.unshard_prefetch);
  if (policy.reduce_grad || schedule.placement.size() > 1) {
    schedule = add_reduce_grad(std::move(schedule), policy.overlap_reduce);
  }
  if (policy.reduce_tied) schedule = add_reduce_tied(std::move(schedule));
  if (policy.optimizer) schedule = add_optimizer(std::move(schedule));
  if (policy.gather_params) schedule = add_gather_params(std::move(schedule), policy.overlap_gather);
  schedule = add_send_receive(std::move(schedule), policy.receive_placement, policy.overlap_pipeline);
  return assign_channels(std::move(schedule));
}

}  // namespace stagecraft

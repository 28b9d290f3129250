#include "schedule/lower.hpp"

#include <algorithm>

#include "schedule/check.hpp"

namespace stagecraft {

namespace {

bool contains(const Schedule& schedule, OpKind kind) {
  return std::any_of(schedule.programs.begin(), schedule.programs.end(), [kind](const auto& program) {
    return std::any_of(program.begin(), program.end(), [kind](const Op& op) { return op.kind == kind; });
  });
}

}  // namespace

Schedule assign_safe_channels(Schedule schedule) {
  schedule = assign_channels(std::move(schedule));
  const Replay coarse = replay(schedule, TransportModel::rendezvous, QueueGrouping::edge_and_kind);
  if (!coarse.deadlock && !coarse.mispaired) return schedule;
  if (replay(schedule, TransportModel::rendezvous, QueueGrouping::tag).deadlock) return schedule;
  return assign_channels_per_tag(std::move(schedule));
}

Schedule lower(Schedule schedule, const LoweringPolicy& policy) {
  // A program from a file may have its messages, and with them any of what the passes add.
  const bool has_messages = schedule.lowered;
  const auto missing = [&](OpKind kind) { return !has_messages || !contains(schedule, kind); };
  const bool reduce = policy.reduce_grad || schedule.placement.size() > 1;
  if (policy.recompute && missing(OpKind::recompute)) schedule = add_recompute(std::move(schedule));
  if (policy.shard_parameters && missing(OpKind::unshard)) {
    schedule = add_unshard(std::move(schedule), policy.unshard_prefetch);
  }
  if (reduce && missing(OpKind::reduce_grad)) schedule = add_reduce_grad(std::move(schedule), policy.overlap_reduce);
  if (policy.reduce_tied && missing(OpKind::reduce_tied)) schedule = add_reduce_tied(std::move(schedule));
  if (policy.optimizer && missing(OpKind::optimizer_step)) schedule = add_optimizer(std::move(schedule));
  if (policy.gather_params && missing(OpKind::gather_params)) {
    schedule = add_gather_params(std::move(schedule), policy.overlap_gather);
  }
  if (!has_messages) {
    schedule = add_send_receive(std::move(schedule), policy.receive_placement, policy.overlap_pipeline);
  }
  if (policy.offload_activations && missing(OpKind::offload)) schedule = add_activation_copies(std::move(schedule));
  if (policy.offload_parameters && missing(OpKind::reload_param)) schedule = add_parameter_copies(std::move(schedule));
  if (policy.offload_optimizer && missing(OpKind::offload_grad)) {
    schedule = add_optimizer_copies(std::move(schedule), policy.offload_parameters);
  }
  if (has_messages) return assign_safe_channels(std::move(schedule));
  // Receives at their senders' slots stand in one global order of all ranks, which no grouping can block.
  const bool ordered = policy.receive_placement == ReceivePlacement::at_sender;
  return ordered ? assign_channels(std::move(schedule)) : assign_safe_channels(std::move(schedule));
}

}  // namespace stagecraft

#pragma once
// Which operations need or make a message, shared by lowering, graph and checks.

#include <cstdint>

#include "schedule/schedule.hpp"

namespace stagecraft {

/// The boundary between two stages seen from one operation: the stage on the other side and the rank that holds it.
struct Neighbour {
  Stage stage;
  PipelineRank rank;
  bool exists = false;
};

/// Recompute belongs to its backward: it starts when the output gradient is there.
constexpr bool needs_gradient(OpKind kind) {
  return kind == OpKind::backward || kind == OpKind::input_grad || kind == OpKind::recompute;
}
constexpr bool makes_gradient(OpKind kind) {
  return kind == OpKind::backward || kind == OpKind::input_grad;
}

/// Where the input of `op` comes from: the stage before for F, the stage behind for B, I and recompute.
inline Neighbour source_of(const Schedule& schedule, const Op& op) {
  const auto& map = schedule.placement[op.replica];
  const std::size_t s = op.stage.index();
  if (op.kind == OpKind::forward && s > 0) return {Stage(s - 1), map[s - 1], true};
  if (needs_gradient(op.kind) && s + 1 < map.size()) return {Stage(s + 1), map[s + 1], true};
  return {};
}

/// Where the output of `op` goes: the stage behind for F, the stage before for B and I.
inline Neighbour target_of(const Schedule& schedule, const Op& op) {
  const auto& map = schedule.placement[op.replica];
  const std::size_t s = op.stage.index();
  if (op.kind == OpKind::forward && s + 1 < map.size()) return {Stage(s + 1), map[s + 1], true};
  if (makes_gradient(op.kind) && s > 0) return {Stage(s - 1), map[s - 1], true};
  return {};
}

inline Op send_of(const Op& producer, bool overlap) {
  Op op = producer;
  op.kind = producer.kind == OpKind::forward ? OpKind::send_activation : OpKind::send_gradient;
  op.lane = overlap ? Lane::pipeline : Lane::compute;
  op.overlaps_next = false;
  op.body = {};
  return op;
}

/// `ahead` false: the receive is posted only when its rank gets to it, and the transfer cannot begin before.
inline Op receive_of(const Op& producer, Stage consumer, bool ahead) {
  Op op = send_of(producer, ahead);
  op.kind = producer.kind == OpKind::forward ? OpKind::recv_activation : OpKind::recv_gradient;
  op.stage = consumer;
  return op;
}

}  // namespace stagecraft

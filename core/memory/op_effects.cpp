#include "memory/op_effects.hpp"

#include <cassert>

namespace stagecraft {
namespace {

/// What passes between a stage and its neighbours.
struct Edges {
  bool input_tracked = false, output_tracked = false;  // a buffer stands between the two stages
  double input = 0, output = 0;                        // whole, as the stages hold it
  double input_message = 0, output_message = 0;        // while it waits to be consumed after a receive
};

OpEffect& slot(std::vector<OpEffect>& effects, std::size_t base, OpKind kind) {
  return effects[base + static_cast<std::size_t>(kind)];
}

void set_compute(const StageMemory& stage, const Edges& edges, std::vector<OpEffect>& effects, std::size_t base) {
  OpEffect& forward = slot(effects, base, OpKind::forward);
  forward.at_start.activations = stage.activation_per_micro_batch.value;
  forward.at_start.logits = stage.logits_per_micro_batch.value;
  forward.during.activations = stage.forward_working_set.value;
  forward.during.logits = stage.logits_forward_working_set.value;
  if (edges.input_tracked) forward.at_start.communication = -edges.input_message;
  if (edges.output_tracked) forward.at_end.communication = edges.output;

  OpEffect backward;
  backward.during.activations = stage.backward_working_set.value;
  backward.during.logits = stage.logits_backward_working_set.value;
  if (edges.output_tracked) backward.at_end.communication -= edges.output_message;
  if (edges.input_tracked) backward.at_end.communication += edges.input;
  backward.at_end.activations = -stage.activation_per_micro_batch.value;
  backward.at_end.logits = -stage.logits_per_micro_batch.value;
  slot(effects, base, OpKind::backward) = backward;

  backward.at_end.activations += stage.held_by_weight_grad.value;
  backward.at_end.logits += stage.logits_held_by_weight_grad.value;
  slot(effects, base, OpKind::input_grad) = backward;

  OpEffect& weight_grad = slot(effects, base, OpKind::weight_grad);
  weight_grad.at_end.activations = -stage.held_by_weight_grad.value;
  weight_grad.at_end.logits = -stage.logits_held_by_weight_grad.value;

  slot(effects, base, OpKind::unshard).at_start.communication = stage.unshard.value;
  slot(effects, base, OpKind::reshard).at_end.communication = -stage.unshard.value;
  slot(effects, base, OpKind::recompute).during.activations = stage.recompute_working_set.value;
}

void set_messages(const Edges& edges, std::vector<OpEffect>& effects, std::size_t base) {
  slot(effects, base, OpKind::recv_activation).at_start.communication = edges.input_message;
  slot(effects, base, OpKind::send_activation).at_end.communication = -edges.output;
  slot(effects, base, OpKind::recv_gradient).at_start.communication = edges.output_message;
  slot(effects, base, OpKind::send_gradient).at_end.communication = -edges.input;
}

Edges edges_of(const std::vector<StageMemory>& memories, const Schedule& schedule, const StageMap& map, std::size_t s) {
  Edges edges;
  const bool has_input = s > 0, has_output = s + 1 < memories.size();
  const bool input_local = has_input && map[s - 1] == map[s];
  const bool output_local = has_output && map[s + 1] == map[s];
  edges.input_tracked = has_input && (schedule.lowered || input_local);
  edges.output_tracked = has_output && (schedule.lowered || output_local);
  edges.input = memories[s].input.value;
  edges.output = memories[s].output.value;
  // A message that came over the wire may be one part of the tensor; what stays on the rank is whole.
  edges.input_message = has_input && !input_local ? memories[s - 1].message.value : edges.input;
  edges.output_message = has_output && !output_local ? memories[s].message.value : edges.output;
  return edges;
}

}  // namespace

OpEffects op_effects(const std::vector<StageMemory>& memories, const Schedule& schedule) {
  assert(stage_count(schedule) == static_cast<std::int32_t>(memories.size()));
  OpEffects table;
  table.effects.resize(effect_count(schedule.placement.size(), memories.size()));
  for (std::size_t replica = 0; replica < schedule.placement.size(); ++replica) {
    for (std::size_t s = 0; s < memories.size(); ++s) {
      const Edges edges = edges_of(memories, schedule, schedule.placement[replica], s);
      const std::size_t base = (replica * memories.size() + s) * op_kind_count;
      set_compute(memories[s], edges, table.effects, base);
      set_messages(edges, table.effects, base);
    }
  }
  return table;
}

}  // namespace stagecraft

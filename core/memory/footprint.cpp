#include "memory/footprint.hpp"

#include <algorithm>
#include <cmath>

#include "memory/moments.hpp"
#include "memory/parameters.hpp"
#include "memory/weight_gradients.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {
namespace {

/// What one layer of a kind costs; layers of a kind are alike, so it is worked out once per plan.
struct LayerMemory {
  double parameters = 0;
  LayerActivations activations;
};

struct LayerTable {
  LayerMemory embedding, block, head, loss;
  WorkingSet working;  // of a block
  WeightGradientBytes weight_gradients;
};

LayerTable layer_table(const Plan& plan, const LocalShape& shape, const MemoryOptions& options) {
  const Recompute recompute = plan.run.recompute;
  const std::vector<ParameterTensor> block = parameter_tensors(plan, {LayerKind::block, 0});
  LayerTable table;
  table.embedding.parameters = parameters_on_rank(parameter_tensors(plan, {LayerKind::embedding, 0}), shape.tensor);
  table.embedding.activations = activations_of(shape, embedding_tensors(shape), recompute);
  table.block.parameters = parameters_on_rank(block, shape.tensor);
  table.block.activations = activations_of(shape, block_tensors(shape), recompute);
  table.head.parameters = parameters_on_rank(parameter_tensors(plan, {LayerKind::head, 0}), shape.tensor);
  table.head.activations = activations_of(shape, head_tensors(shape), recompute);
  table.loss.activations = activations_of(shape, loss_tensors(shape), recompute);
  table.working = block_working_set(shape, recompute);
  table.weight_gradients = weight_gradients(shape, block, options.weight_gradient);
  return table;
}

void add_layer(const LayerMemory& layer, StageMemory& stage) {
  stage.parameters += layer.parameters;
  stage.activation_per_micro_batch += layer.activations.kept;
  stage.held_by_weight_grad += layer.activations.held_by_weight_grad;
  stage.recompute_working_set = std::max(stage.recompute_working_set, layer.activations.recomputed);
}

void set_moments(const LocalShape& shape, const LayerTable& table, StageParts& parts, StageMemory& stage) {
  parts.kept = stage.activation_per_micro_batch;
  parts.logits_kept = stage.logits_per_micro_batch;
  parts.block = table.working;
  parts.block_weight_gradient = table.weight_gradients.of_block;
  parts.head_weight_gradient = table.weight_gradients.of_head;
  parts.embedding_weight_gradient = table.weight_gradients.of_embedding;
  const Moment forward = worst_forward(shape, parts), backward = worst_backward(shape, parts);
  stage.forward_working_set = forward.activations;
  stage.logits_forward_working_set = forward.logits;
  stage.backward_working_set = backward.activations;
  stage.logits_backward_working_set = backward.logits;
}

void fill_transformer_stage(const Plan& plan, const LocalShape& shape, const LayerTable& table, StageLayers range,
                            const MemoryOptions& options, StageMemory& stage) {
  StageParts parts;
  for (std::int32_t l = range.first; l < range.last; ++l) {
    switch (plan.layers[static_cast<std::size_t>(l)].kind) {
      case LayerKind::embedding:
        parts.has_embedding = true;
        add_layer(table.embedding, stage);
        break;
      case LayerKind::head:
        parts.head_kept = table.head.activations.kept;
        add_layer(table.head, stage);
        if (plan.model.tied_embeddings && !parts.has_embedding) {
          stage.tied_copy = parameters_on_rank({tied_head_copy(plan)}, shape.tensor);
          stage.parameters += stage.tied_copy;
        }
        break;
      case LayerKind::loss:
        parts.has_loss = true;
        stage.logits_per_micro_batch = table.loss.activations.kept;
        stage.logits_held_by_weight_grad = table.loss.activations.held_by_weight_grad;
        break;
      case LayerKind::block:
      case LayerKind::plain:
        parts.has_blocks = true;
        add_layer(table.block, stage);
        break;
    }
  }
  stage.resident = resident_states(plan, stage.parameters, options);
  set_moments(shape, table, parts, stage);
}

void fill_plain_stage(const Plan& plan, const LocalShape& shape, StageLayers range, const MemoryOptions& options,
                      StageMemory& stage) {
  for (std::int32_t l = range.first; l < range.last; ++l) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(l)];
    if (layer.kind != LayerKind::plain) continue;
    const PlainLayerSpec& spec = plan.model.plain_layers[static_cast<std::size_t>(layer.index)];
    stage.parameters += spec.parameters;
    stage.activation_per_micro_batch += spec.activations_per_sample * shape.samples;
    stage.held_by_weight_grad += spec.activations_per_sample * shape.samples;
    const Bytes output = spec.output_per_sample * shape.samples;
    stage.forward_working_set = std::max(stage.forward_working_set, output);
    stage.backward_working_set = std::max(stage.backward_working_set, output);
  }
  stage.resident = resident_states(plan, stage.parameters, options);
}

/// Output of the layer before `boundary`, as one rank holds it.
Bytes boundary_bytes(const Plan& plan, const LocalShape& shape, std::int32_t boundary) {
  if (boundary <= 0 || boundary >= static_cast<std::int32_t>(plan.layers.size())) return {};
  const Layer& before = plan.layers[static_cast<std::size_t>(boundary - 1)];
  if (before.kind == LayerKind::plain) {
    return plan.model.plain_layers[static_cast<std::size_t>(before.index)].output_per_sample * shape.samples;
  }
  return bytes_on_rank(shape, shape.tokens * shape.hidden, shape.activation, Shard::sequence);
}

}  // namespace

MemoryByClass resident_states(const Plan& plan, double parameters, const MemoryOptions& options) {
  const PrecisionRecipe& recipe = options.recipe != nullptr ? *options.recipe : recipe_of(plan.run.precision);
  const double ranks = static_cast<double>(plan.degrees.data) * static_cast<double>(plan.degrees.context);
  const ModelStates states = model_states(recipe, parameters, plan.run.zero_stage, ranks);
  MemoryByClass by_class{};
  at(by_class, MemoryClass::parameters) = states.parameters;
  at(by_class, MemoryClass::gradients) = states.gradients;
  at(by_class, MemoryClass::optimizer_states) = states.optimizer;
  return by_class;
}

std::vector<StageMemory> stage_memories(const Plan& plan, const MemoryOptions& options) {
  const LocalShape shape = local_shape(plan);
  const bool plain = !plan.model.plain_layers.empty();
  const LayerTable table = plain ? LayerTable{} : layer_table(plan, shape, options);
  std::vector<StageMemory> memories(plan.stages.size());
  for (std::size_t s = 0; s < memories.size(); ++s) {
    StageMemory& stage = memories[s];
    const StageLayers range = plan.stages[s];
    if (plain) {
      fill_plain_stage(plan, shape, range, options, stage);
    } else {
      fill_transformer_stage(plan, shape, table, range, options, stage);
    }
    stage.input = boundary_bytes(plan, shape, range.first);
    stage.output = boundary_bytes(plan, shape, range.last);
    if (s + 1 < memories.size()) stage.message = {std::ceil(message_bytes(plan, Stage(s)).value)};
  }
  return memories;
}

StageMemory stage_memory(const Plan& plan, Stage stage, const MemoryOptions& options) {
  return stage_memories(plan, options).at(stage.index());
}

}  // namespace stagecraft

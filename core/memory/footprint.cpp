#include "memory/footprint.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "memory/block_memory.hpp"
#include "memory/framework.hpp"
#include "memory/moments.hpp"
#include "memory/sharded.hpp"
#include "memory/weight_gradients.hpp"
#include "plan/recompute_scope.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {
namespace {

/// What one layer of a kind costs; layers of a kind are alike, so it is worked out once per plan.
struct LayerMemory {
  ParameterCount parameters;
  LayerActivations activations;
};

struct LayerTable {
  LayerMemory embedding, head, loss;
  std::vector<BlockMemory> blocks;  // one per kind, in the order of the model
  WeightGradientBytes weight_gradients;
};

LayerTable layer_table(const Plan& plan, const LocalShape& shape) {
  const Recompute recompute = plan.run.recompute;
  const auto layer_of = [&](LayerKind kind, const std::vector<SavedTensor>& tensors) {
    return LayerMemory{count_on_rank(parameter_tensors(plan, {kind, 0}), shape.tensor, shape.expert),
                       activations_of(shape, tensors, recompute)};
  };
  LayerTable table;
  table.embedding = layer_of(LayerKind::embedding, embedding_tensors(shape));
  table.head = layer_of(LayerKind::head, head_tensors(shape));
  table.loss.activations = activations_of(shape, loss_tensors(shape), recompute);
  table.blocks = block_memories(plan, shape);
  const BlockMemory& largest =
      *std::max_element(table.blocks.begin(), table.blocks.end(),
                        [](const auto& x, const auto& y) { return x.parameters.all() < y.parameters.all(); });
  table.weight_gradients = weight_gradients(shape, parameter_tensors(plan, {LayerKind::block, largest.first}),
                                            habits_of(plan.run).weight_gradient);
  return table;
}

void add_layer(const LayerMemory& layer, ParameterCount& parameters, StageMemory& stage) {
  parameters += layer.parameters;
  stage.activation_per_micro_batch += layer.activations.kept;
  stage.held_by_weight_grad += layer.activations.held_by_weight_grad;
}

// A module of multi-token prediction runs the model's head and loss once more; their parameters are the model's own.
void add_prediction_head(const LayerTable& table, StageMemory& stage) {
  stage.activation_per_micro_batch += table.head.activations.kept;
  stage.held_by_weight_grad += table.head.activations.held_by_weight_grad;
  stage.logits_per_micro_batch += table.loss.activations.kept;
  stage.logits_held_by_weight_grad += table.loss.activations.held_by_weight_grad;
}

WorkingSet worse(const WorkingSet& a, const WorkingSet& b) {
  return {std::max(a.forward, b.forward), std::max(a.backward, b.backward)};
}

using BlockCounts = std::vector<std::int64_t>;  // blocks of a stage, of each kind of the table

void add_blocks(const Plan& plan, const LayerTable& table, const BlockCounts& counts, StageParts& parts,
                StageMemory& stage) {
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const RecomputedBlocks scope = recomputed_blocks(plan.run, all);
  const double leaving = offloaded_share(plan.run.offload, all);
  std::int64_t left = plan.run.recompute == Recompute::full ? scope.count : all;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const std::int64_t count = counts[kind];
    const BlockMemory* const block = &table.blocks[kind];
    if (count == 0) continue;
    const std::int64_t recomputed = std::min(left, count);
    left -= recomputed;
    const double again = static_cast<double>(recomputed), rest = static_cast<double>(count - recomputed);
    // Of a piece only the first block's input stays between the passes; the others' come back while it is computed.
    const double inputs = std::ceil(again / static_cast<double>(scope.piece == 0 ? 1 : scope.piece));
    const Bytes kept = block->recomputed.kept * inputs + block->kept.kept * rest;
    const Bytes away{std::ceil(kept.value * leaving)};
    stage.offloaded_per_micro_batch += away;
    stage.activation_per_micro_batch += kept - away;
    stage.held_by_weight_grad += block->kept.held_by_weight_grad * static_cast<double>(count);
    WorkingSet working = recomputed > 0 ? block->working_recomputed : block->working_kept;
    if (rest > 0) working = worse(working, block->working_kept);
    const double more = static_cast<double>(std::min(scope.piece, count) - 1);
    if (recomputed > 0 && more > 0) working.backward += block->kept.kept * more;
    parts.block = parts.has_blocks ? worse(parts.block, working) : working;
    parts.has_blocks = true;
    const Bytes recomputed_set = block->recomputed.recomputed + block->kept.kept * std::max(0.0, more);
    if (recomputed > 0) stage.recompute_working_set = std::max(stage.recompute_working_set, recomputed_set);
    if (leaving > 0) {
      // One block's tensors travel while the next one's are made or used.
      const Bytes moving = (recomputed > 0 ? block->recomputed.kept : block->kept.kept) * 2;
      parts.block_forward = std::max(parts.block_forward, moving);
    }
  }
}

void set_moments(const Plan& plan, const LocalShape& shape, const LayerTable& table, const StageCounts& counts,
                 StageParts& parts, StageMemory& stage) {
  const ShardedWorkingSet sharded = sharded_working_set(plan, counts);
  const Bytes moving = parts.block_forward;
  parts.kept = stage.activation_per_micro_batch;
  parts.logits_kept = stage.logits_per_micro_batch;
  parts.block_forward += sharded.forward;
  parts.block_weight_gradient = std::max(sharded.backward, table.weight_gradients.of_block + sharded.forward) + moving;
  parts.head_weight_gradient = std::max(sharded.head_gradient, table.weight_gradients.of_head);
  parts.held_head_gradient = parts.has_loss ? sharded.head_gradient : Bytes{};
  parts.embedding_weight_gradient = std::max(sharded.ends, table.weight_gradients.of_embedding);
  const Moment forward = worst_forward(shape, parts), backward = worst_backward(shape, parts);
  stage.forward_working_set = forward.activations;
  stage.logits_forward_working_set = forward.logits;
  stage.backward_working_set = backward.activations;
  stage.logits_backward_working_set = backward.logits;
  stage.unshard = sharded.unshard;
  at(stage.resident, MemoryClass::communication) += sharded.standing;
}

void set_resident(const Plan& plan, const ParameterCount& parameters, StageMemory& stage) {
  const ResidentStates states = resident_states(plan, parameters);
  stage.parameters = parameters.all();
  stage.resident = states.gpu;
  stage.host = states.host;
  stage.nvme = states.nvme;
}

void fill_transformer_stage(const Plan& plan, const LocalShape& shape, const LayerTable& table, StageLayers range,
                            StageMemory& stage) {
  StageParts parts;
  StageCounts held;
  BlockCounts blocks(table.blocks.size());
  ParameterCount parameters;
  bool attends = false;  // to an encoder's output
  for (std::int32_t l = range.first; l < range.last; ++l) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(l)];
    switch (layer.kind) {
      case LayerKind::embedding:
        parts.has_embedding = true;
        held.embedding = table.embedding.parameters;
        add_layer(table.embedding, parameters, stage);
        break;
      case LayerKind::head:
        parts.head_kept = table.head.activations.kept;
        held.head = table.head.parameters;
        add_layer(table.head, parameters, stage);
        if (plan.model.tied_embeddings && !parts.has_embedding) {
          const ParameterCount copy = count_on_rank({tied_head_copy(plan)}, shape.tensor, shape.expert);
          stage.tied_copy = copy.all();
          held.head += copy;
          parameters += copy;
        }
        break;
      case LayerKind::loss:
        parts.has_loss = true;
        stage.logits_per_micro_batch += table.loss.activations.kept;
        stage.logits_held_by_weight_grad += table.loss.activations.held_by_weight_grad;
        break;
      case LayerKind::block: {
        const std::size_t kind = kind_of(table.blocks, plan.model, layer.index);
        const BlockMemory& block = table.blocks[kind];
        ++blocks[kind];
        held.blocks += block.parameters;
        if (block.parameters.all() > held.largest_block.all()) held.largest_block = block.parameters;
        if (block.kind.prediction) add_prediction_head(table, stage);
        attends = attends || block.kind.cross;
        break;
      }
      case LayerKind::plain:
        break;
    }
  }
  if (attends) {
    const LayerActivations output = activations_of(shape, {encoder_output(shape)}, plan.run.recompute);
    stage.activation_per_micro_batch += output.kept;
    stage.held_by_weight_grad += output.held_by_weight_grad;
  }
  parameters += held.blocks;
  set_resident(plan, parameters, stage);
  add_blocks(plan, table, blocks, parts, stage);
  set_moments(plan, shape, table, held, parts, stage);
}

void fill_plain_stage(const Plan& plan, const LocalShape& shape, StageLayers range, StageMemory& stage) {
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
  ParameterCount parameters;
  parameters.dense = parameters.factored_dense = stage.parameters;
  set_resident(plan, parameters, stage);
  stage.unshard = sharded_working_set(plan, {{}, parameters, {}, parameters}).unshard;
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

std::vector<StageMemory> stage_memories(const Plan& plan) {
  const LocalShape shape = local_shape(plan);
  const bool plain = !plan.model.plain_layers.empty();
  const LayerTable table = plain ? LayerTable{} : layer_table(plan, shape);
  std::vector<StageMemory> memories(plan.stages.size());
  for (std::size_t s = 0; s < memories.size(); ++s) {
    StageMemory& stage = memories[s];
    const StageLayers range = plan.stages[s];
    if (plain) {
      fill_plain_stage(plan, shape, range, stage);
    } else {
      fill_transformer_stage(plan, shape, table, range, stage);
    }
    stage.input = boundary_bytes(plan, shape, range.first);
    stage.output = boundary_bytes(plan, shape, range.last);
    if (s + 1 < memories.size()) stage.message = {std::ceil(message_bytes(plan, Stage(s)).value)};
  }
  return memories;
}

StageMemory stage_memory(const Plan& plan, Stage stage) {
  return stage_memories(plan).at(stage.index());
}

}  // namespace stagecraft

#include "memory/block_memory.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

BlockMemory block_memory(const Plan& plan, const LocalShape& own, const BlockKind& kind, std::int32_t index) {
  const LocalShape shape = kind.encoder ? encoder_shape_of(plan, own) : own;
  const Recompute recompute = plan.run.recompute;
  // Blocks outside the scope of full recompute keep all.
  const Recompute rest = recompute == Recompute::full ? Recompute::none : recompute;
  const std::vector<SavedTensor> tensors = block_tensors(shape, kind);
  BlockMemory block;
  block.kind = kind;
  block.first = index;
  block.parameters = count_on_rank(parameter_tensors(plan, {LayerKind::block, index}), shape.tensor, shape.expert,
                                   shape.expert_tensor);
  block.kept = activations_of(shape, tensors, rest);
  block.working_kept = block_working_set(shape, kind, rest);
  if (recompute == rest) {
    block.recomputed = block.kept;
    block.working_recomputed = block.working_kept;
  } else {
    block.recomputed = activations_of(shape, tensors, recompute);
    block.working_recomputed = block_working_set(shape, kind, recompute);
  }
  return block;
}

}  // namespace

BlockKind memory_kind(const ModelSpec& model, std::int32_t index) {
  BlockKind kind = block_kind(model, index);
  kind.windowed = false;
  return kind;
}

std::vector<BlockMemory> block_memories(const Plan& plan, const LocalShape& shape) {
  std::vector<BlockMemory> blocks;
  for (const Layer& layer : plan.layers) {
    if (layer.kind != LayerKind::block) continue;
    if (kind_of(blocks, plan.model, layer.index) < blocks.size()) continue;
    blocks.push_back(block_memory(plan, shape, memory_kind(plan.model, layer.index), layer.index));
  }
  return blocks;
}

std::size_t kind_of(const std::vector<BlockMemory>& blocks, const ModelSpec& model, std::int32_t index) {
  const BlockKind kind = memory_kind(model, index);
  const auto at =
      std::find_if(blocks.begin(), blocks.end(), [&](const BlockMemory& block) { return block.kind == kind; });
  return static_cast<std::size_t>(at - blocks.begin());
}

}  // namespace stagecraft

#pragma once
// What one block of every kind costs. Blocks of a kind are alike, so it is worked out once per plan.

#include <cstdint>
#include <vector>

#include "memory/activations.hpp"
#include "memory/parameters.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

struct BlockMemory {
  BlockKind kind;
  std::int32_t first = 0;  // index of the first block of the kind
  ParameterCount parameters;
  LayerActivations kept, recomputed;  // outside and inside the scope of recompute
  WorkingSet working_kept, working_recomputed;
};

/// The kind as memory tells it from others: a window changes what is computed, not what is kept.
BlockKind memory_kind(const ModelSpec& model, std::int32_t index);

/// One entry per kind that the plan's blocks have, in the order of the model.
std::vector<BlockMemory> block_memories(const Plan& plan, const LocalShape& shape);

/// Index into `blocks` of the kind of a block.
std::size_t kind_of(const std::vector<BlockMemory>& blocks, const ModelSpec& model, std::int32_t index);

}  // namespace stagecraft

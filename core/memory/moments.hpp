#pragma once
// The candidates for the worst moment of a stage's forward and backward pass.

#include <vector>

#include "memory/activations.hpp"

namespace stagecraft {

/// Bytes relative to what the micro-batch keeps while the stage is between F and B.
struct Moment {
  Bytes activations, logits;
};

/// What a stage is made of, as far as its moments are concerned.
struct StageParts {
  bool has_embedding = false, has_blocks = false, has_loss = false;
  Bytes kept, head_kept, logits_kept;  // per micro-batch: all activations, those of the head among them, the logits
  WorkingSet block;
  Bytes block_forward;              // beside it: gathered parameters, activations on their way to the host
  Bytes block_weight_gradient;      // the largest that exists as a tensor of its own, and its gathered parameters
  Bytes head_weight_gradient;       // likewise
  Bytes held_head_gradient;         // of it, what stays until the end of the pass
  Bytes embedding_weight_gradient;  // autograd makes a dense one whatever the GEMMs do
};

/// Forward: the blocks end before the logits exist; the loss holds its tensors beside what it keeps.
Moment worst_forward(const LocalShape& shape, const StageParts& parts);

/// Backward: the gradient of the logits is made from what the loss kept; the head's GEMMs run with it; the blocks
/// follow when logits and head are gone; the embedding's gradient comes when all is gone.
Moment worst_backward(const LocalShape& shape, const StageParts& parts);

}  // namespace stagecraft

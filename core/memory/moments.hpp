#pragma once
// The candidates for the worst moment of a stage's forward and backward pass.

#include <vector>

#include "memory/activations.hpp"
#include "memory/options.hpp"

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
  Bytes block_weight_gradient;      // the largest that exists as a tensor of its own
  Bytes head_weight_gradient;       // likewise
  Bytes embedding_weight_gradient;  // autograd makes a dense one whatever the GEMMs do
};

/// Forward: the blocks end before the logits exist; the 16-bit logits stand beside the fp32 softmax.
Moment worst_forward(const LocalShape& shape, const StageParts& parts);

/// Backward: the 16-bit gradient of the logits is made from the softmax; the head's GEMMs run with it; the blocks
/// follow when logits and head are gone; the embedding's gradient comes when all is gone.
Moment worst_backward(const LocalShape& shape, const StageParts& parts);

}  // namespace stagecraft

#include "memory/activations.hpp"

namespace stagecraft {

LayerActivations activations_of(const LocalShape& shape, const std::vector<SavedTensor>& tensors, Recompute recompute) {
  LayerActivations sum;
  for (const SavedTensor& tensor : tensors) {
    const Bytes bytes = bytes_on_rank(shape, tensor.elements, tensor.dtype, tensor.shard);
    if (tensor.held != Held::forward_to_input_grad) sum.held_by_weight_grad += bytes;
    if (tensor.held == Held::input_grad_to_weight_grad) continue;
    const bool dropped = (recompute == Recompute::full && tensor.dropped != Dropped::never) ||
                         (recompute == Recompute::selective && tensor.dropped == Dropped::by_selective);
    (dropped ? sum.recomputed : sum.kept) += bytes;
  }
  return sum;
}

std::vector<SavedTensor> embedding_tensors(const LocalShape& shape) {
  std::vector<SavedTensor> tensors = {{"token and position ids", 2 * shape.tokens, Dtype::int64, Shard::whole,
                                       Held::forward_to_input_grad, Dropped::never}};
  if (shape.dropout) {
    tensors.push_back({"embedding dropout mask", shape.tokens * shape.hidden, Dtype::int8, Shard::sequence,
                       Held::forward_to_input_grad, Dropped::never});
  }
  return tensors;
}

std::vector<SavedTensor> head_tensors(const LocalShape& shape) {
  const double width = shape.tokens * shape.hidden;
  return {
      {"final norm input", width, shape.activation, Shard::sequence, Held::forward_to_input_grad, Dropped::never},
      {"final norm statistics", shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32, Shard::sequence,
       Held::forward_to_input_grad, Dropped::never},
      // The head stays in 16 bit where the blocks run in fp8.
      {"head input", width, shape.activation, Shard::sequence, Held::forward_to_weight_grad, Dropped::never},
  };
}

std::vector<SavedTensor> loss_tensors(const LocalShape& shape) {
  const double logits = shape.tokens * shape.vocabulary;
  return {
      {"softmax of the logits", logits, Dtype::fp32, Shard::tensor, Held::forward_to_input_grad, Dropped::never},
      {"labels and loss mask", 2 * shape.tokens, Dtype::int64, Shard::whole, Held::forward_to_input_grad,
       Dropped::never},
      {"target mask", shape.tokens, Dtype::int8, Shard::whole, Held::forward_to_input_grad, Dropped::never},
      {"logits gradient", logits, shape.activation, Shard::tensor, Held::input_grad_to_weight_grad, Dropped::never},
  };
}

}  // namespace stagecraft

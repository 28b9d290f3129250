#include "memory/activations.hpp"

#include <cmath>

namespace stagecraft {

namespace {

bool dropped_by_modules(const RecomputeModules& modules, Dropped dropped) {
  switch (dropped) {
    case Dropped::never:
    case Dropped::by_full:
      return false;
    case Dropped::by_selective:
      return modules.core_attention;
    case Dropped::by_norms:
      return modules.norms;
    case Dropped::by_activation:
      return modules.activation || modules.mlp;
    case Dropped::by_mlp:
      return modules.mlp;
    case Dropped::by_latent_up:
      return modules.latent_up_projection;
    case Dropped::only_per_op:
      break;
  }
  return false;
}

double share_kept(const LocalShape& shape, const SavedTensor& tensor, Recompute recompute) {
  if (tensor.dropped == Dropped::never) return 1;
  switch (recompute) {
    case Recompute::none:
      return 1;
    case Recompute::selective:
      return dropped_by_modules(shape.modules, tensor.dropped) ? 0 : 1;
    case Recompute::full:
      return 0;
    case Recompute::per_op:
      return tensor.kept_per_op;
  }
  return 1;
}

}  // namespace

LayerActivations activations_of(const LocalShape& shape, const std::vector<SavedTensor>& tensors, Recompute recompute) {
  LayerActivations sum;
  for (const SavedTensor& tensor : tensors) {
    if (tensor.dropped == Dropped::only_per_op && recompute != Recompute::per_op) continue;
    const Bytes bytes = bytes_on_rank(shape, tensor.elements, tensor.dtype, tensor.shard);
    if (tensor.held != Held::forward_to_input_grad) sum.held_by_weight_grad += bytes;
    if (tensor.held == Held::input_grad_to_weight_grad) continue;
    const double kept = share_kept(shape, tensor, recompute);
    const Bytes stays{std::ceil(bytes.value * kept)};
    sum.kept += stays;
    sum.recomputed += bytes - stays;
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
  const double at_once = shape.loss == LossKernel::chunked ? logits / loss_chunks : logits;
  std::vector<SavedTensor> rows = {
      {"labels and loss mask", 2 * shape.tokens, Dtype::int64, Shard::whole, Held::forward_to_input_grad,
       Dropped::never},
      {"target mask", shape.tokens, Dtype::int8, Shard::whole, Held::forward_to_input_grad, Dropped::never},
      {"logits gradient", at_once, shape.activation, Shard::tensor, Held::input_grad_to_weight_grad, Dropped::never}};
  switch (shape.loss) {
    case LossKernel::vocabulary_parallel:
      rows.push_back(
          {"softmax of the logits", logits, Dtype::fp32, Shard::tensor, Held::forward_to_input_grad, Dropped::never});
      break;
    case LossKernel::fused:
      rows.push_back({"logits, then their gradient", logits, shape.activation, Shard::tensor,
                      Held::forward_to_input_grad, Dropped::never});
      break;
    case LossKernel::full_fp32:
      rows.push_back({"log-softmax of the logits", logits, Dtype::fp32, Shard::whole, Held::forward_to_input_grad,
                      Dropped::never});
      if (!shape.drops_logits) {
        // What a gather over the tensor group receives, and what it puts together of it.
        const double copies = shape.tensor > 1 ? 2 : 1;
        rows.push_back({"gathered logits", copies * logits, shape.activation, Shard::whole, Held::forward_to_input_grad,
                        Dropped::never});
        rows.push_back(
            {"logits in fp32", logits, Dtype::fp32, Shard::whole, Held::forward_to_input_grad, Dropped::never});
      }
      break;
    case LossKernel::chunked:  // the forward pass of a chunk makes its gradients at once and keeps those of the input
      rows.push_back({"gradient of the head's input", shape.tokens * shape.hidden, shape.activation, Shard::whole,
                      Held::forward_to_input_grad, Dropped::never});
      break;
  }
  return rows;
}

}  // namespace stagecraft

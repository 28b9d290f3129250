// Final norm, projection to the vocabulary, and the vocabulary-parallel cross-entropy (Megatron-LM
// core/tensor_parallel/cross_entropy.py): the logits are cast to fp32, and three small all-reduces over the tensor
// group exchange the maximum, the target's logit and the sum of exponentials of each token. A fused cross-entropy reads
// the logits once in each direction and puts the gradient in their place (flash-attention,
// ops/triton/cross_entropy.py); PyTorch's works on an fp32 copy of the whole logits, which every tensor rank gathers.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

double logits(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.vocabulary);
}

/// Of all tensor ranks.
double whole_logits(const BodyShape& shape) {
  return logits(shape) * static_cast<double>(shape.tensor);
}

// Frameworks keep the projection to the vocabulary in 16 bits when other GEMMs run in fp8.
BodyShape in_16_bits(BodyShape shape) {
  shape.gemm_dtype = shape.element_dtype;
  return shape;
}

}  // namespace

BodyShape projected_rows(BodyShape shape, const HeadSpec& head) {
  if (!head.first_token) return shape;
  shape.tokens = shape.sequences;
  shape.norm_tokens = shape.sequences;
  return shape;
}

void add_head_forward(std::vector<Segment>& out, const BodyShape& whole, const ModelSpec& model) {
  const HeadSpec& head = model.head;
  if (head.norm) add_norm_forward(out, "final-norm", whole);
  if (head.pooler) out.push_back(gemm("pooler", whole, whole.sequences, whole.hidden, whole.hidden));
  if (!head.projection) return;
  const BodyShape shape = projected_rows(whole, head);
  enter_tensor_region(out, "head-all-gather", shape);
  if (head.transform) {
    out.push_back(gemm("head-transform", shape, shape.tokens, shape.hidden, shape.hidden));
    add_norm_forward(out, "head-transform-norm", shape);
  }
  out.push_back(gemm("head", in_16_bits(shape), shape.tokens, shape.vocabulary, shape.hidden));
}

void add_head_backward(const BackwardList& list, const BodyShape& whole, const ModelSpec& model) {
  const HeadSpec& head = model.head;
  const BodyShape shape = projected_rows(whole, head);
  if (head.projection) {
    if (shape.sequence_parallel) {
      list.weight_grad(
          collective("head-all-gather-again", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape), 1));
    }
    list.input_grad(gemm("head-input-grad", in_16_bits(shape), shape.tokens, shape.hidden, shape.vocabulary));
    if (shape.tensor > 1) {
      const CollectiveKind kind = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
      list.input_grad(collective("head-grad-reduce", kind, Axis::tensor, whole_bytes(shape), 1));
    }
    add_weight_grad(list, "head-weight-grad", "head-accumulate", in_16_bits(shape), shape.tokens, shape.vocabulary,
                    shape.hidden);
    if (head.transform) {
      add_norm_backward(list, "head-transform-norm-grad", "head-transform-norm-weight-grad", shape);
      list.input_grad(gemm("head-transform-input-grad", shape, shape.tokens, shape.hidden, shape.hidden));
      add_weight_grad(list, "head-transform-weight-grad", "head-transform-accumulate", shape, shape.tokens,
                      shape.hidden, shape.hidden);
    }
  }
  if (head.pooler) {
    list.input_grad(gemm("pooler-input-grad", whole, whole.sequences, whole.hidden, whole.hidden));
    add_weight_grad(list, "pooler-weight-grad", "pooler-accumulate", whole, whole.sequences, whole.hidden,
                    whole.hidden);
  }
  if (!head.norm) return;
  const double rows = static_cast<double>(whole.norm_tokens * whole.hidden);
  list.input_grad(pass("final-norm-grad", 3 * whole.element * rows));
  list.weight_grad(pass("final-norm-weight-grad", 2 * whole.element * rows));
}

void add_loss_forward(std::vector<Segment>& out, const BodyShape& shape, LossKernel kernel) {
  if (kernel == LossKernel::fused || kernel == LossKernel::chunked) {
    out.push_back(pass("loss", logits(shape) * shape.element));
    return;
  }
  if (kernel == LossKernel::full_fp32) {
    if (shape.tensor > 1) {
      // What arrives rank by rank is put together, which reads and writes it.
      const double bytes = whole_logits(shape) * shape.element;
      out.push_back(collective("logits-all-gather", CollectiveKind::all_gather, Axis::tensor, bytes));
      out.push_back(pass("logits-join", 2 * bytes));
    }
    // The fp32 copy, and the logarithm of its softmax.
    out.push_back(pass("loss", whole_logits(shape) * ((shape.element < 4 ? shape.element + 4 : 0) + 8), 3));
    return;
  }
  const double per_token = 4.0 * static_cast<double>(shape.tokens);
  const bool sharded = shape.tensor > 1;
  const double cast = shape.element < 4 ? shape.element + 4 : 0;
  out.push_back(pass("loss-max", logits(shape) * (cast + 4), 2));
  if (sharded) out.push_back(collective("loss-max-reduce", CollectiveKind::all_reduce, Axis::tensor, per_token));
  // Subtract the maximum, pick the target.
  out.push_back(pass("loss-shift", logits(shape) * 8, 2));
  if (sharded) out.push_back(collective("loss-target-reduce", CollectiveKind::all_reduce, Axis::tensor, per_token));
  // Exponentials and their sum.
  out.push_back(pass("loss-exp", logits(shape) * 12, 2));
  if (sharded) out.push_back(collective("loss-sum-reduce", CollectiveKind::all_reduce, Axis::tensor, per_token));
  // Probabilities, kept for the backward pass.
  out.push_back(pass("loss-normalise", logits(shape) * 8));
}

void add_loss_backward(const BackwardList& list, const BodyShape& shape, LossKernel kernel) {
  const double cast = shape.element < 4 ? shape.element + 4 : 0;
  if (kernel == LossKernel::fused || kernel == LossKernel::chunked) {
    list.input_grad(pass("loss-grad", logits(shape) * 2 * shape.element));
    return;
  }
  if (kernel == LossKernel::full_fp32) {
    // A dense gradient of the targets is written; it and the softmax are read, their gradient is written and cast.
    list.input_grad(pass("loss-grad", whole_logits(shape) * (16 + cast), 3));
    if (shape.tensor > 1) list.input_grad(pass("logits-grad-share", 2 * logits(shape) * shape.element));
    return;
  }
  list.input_grad(pass("loss-grad", logits(shape) * (8 + cast), 3));
}

}  // namespace stagecraft

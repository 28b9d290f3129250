// The transient part of a block's memory, followed kernel by kernel through one forward and one backward pass.

#include <algorithm>
#include <string_view>

#include "memory/attention_memory.hpp"

namespace stagecraft {
namespace {

struct Sizes {
  Bytes residual;  // one [tokens, hidden] tensor of the residual stream
  Bytes whole;     // the same before it is scattered over the tensor group
  Bytes query, qkv, scores, up, inner, down_input, activation_input;
};

Sizes sizes_of(const LocalShape& shape, const BlockKind& kind) {
  const Dtype dtype = shape.activation;
  const double width = shape.tokens * shape.hidden;
  const AttentionWidths attention = attention_memory_of(shape.attention).widths(shape);
  const double keys_seen = kind.cross ? std::max(shape.sequence, shape.encoder_sequence) : shape.sequence;
  Sizes sizes;
  sizes.residual = bytes_on_rank(shape, width, dtype, Shard::sequence);
  sizes.whole = bytes_on_rank(shape, width, dtype, Shard::whole);
  sizes.query = bytes_on_rank(shape, shape.tokens * attention.output, dtype, Shard::tensor);
  sizes.qkv = bytes_on_rank(shape, shape.tokens * attention.qkv, dtype, Shard::tensor);
  if (materialises_scores(shape)) {
    sizes.scores = bytes_on_rank(shape, shape.tokens * keys_seen * shape.heads, dtype, Shard::tensor);
  }
  sizes.up = bytes_on_rank(shape, shape.tokens * up_width(shape), dtype, Shard::tensor);
  sizes.inner = bytes_on_rank(shape, shape.tokens * shape.ffn, dtype, Shard::tensor);
  sizes.down_input = bytes_on_rank(shape, shape.tokens * shape.ffn, shape.linear_input, Shard::tensor);
  sizes.activation_input = shape.relu && !shape.gated ? Bytes{} : sizes.up;
  return sizes;
}

/// The sizes of a block with experts: the tokens that they are sent take the place of the MLP's.
Sizes expert_sizes(const LocalShape& shape, const BlockKind& kind) {
  const MoeSpec& moe = shape.moe;
  Sizes sizes = sizes_of(shape, kind);
  const double routed = routed_tokens(shape);
  const double inner =
      routed * static_cast<double>(moe.ffn_hidden) + shape.tokens * static_cast<double>(moe.shared_ffn_hidden);
  sizes.whole = bytes_on_rank(shape, routed * shape.hidden, shape.activation, Shard::whole);
  sizes.up = bytes_on_rank(shape, shape.gated ? 2 * inner : inner, shape.activation, Shard::tensor);
  sizes.inner = bytes_on_rank(shape, inner, shape.activation, Shard::tensor);
  sizes.down_input = bytes_on_rank(shape, inner, shape.linear_input, Shard::tensor);
  sizes.activation_input = shape.relu && !shape.gated ? Bytes{} : sizes.up;
  return sizes;
}

/// What F keeps of the MLP: not there yet while attention runs forward, gone already while it runs backward.
Bytes kept_by_mlp(const LocalShape& shape, const std::vector<SavedTensor>& tensors) {
  Bytes sum;
  bool in_mlp = false;
  for (const SavedTensor& tensor : tensors) {
    in_mlp = in_mlp || std::string_view(tensor.name).starts_with("mlp");
    if (in_mlp && tensor.held != Held::input_grad_to_weight_grad) {
      sum += bytes_on_rank(shape, tensor.elements, tensor.dtype, tensor.shard);
    }
  }
  return sum;
}

Bytes forward_with_backward_to_come(const LocalShape& shape, const Sizes& sizes, Bytes mlp, Bytes dropped_scores) {
  // At the end of the block: the last GEMM's output, its scattered part, and the block's output.
  const Bytes at_end = sizes.whole + (shape.sequence_parallel ? sizes.residual : Bytes{}) + sizes.residual;
  const Bytes in_attention = sizes.scores + dropped_scores - mlp;  // the raw scores beside what is kept of them
  return std::max(at_end, in_attention);
}

Bytes forward_without_backward(const LocalShape& shape, const Sizes& sizes) {
  const Bytes gate = shape.gated && !shape.fused_gate ? sizes.inner : Bytes{};
  const Bytes clamped = shape.clamp_apart ? sizes.up : Bytes{};
  const Bytes in_mlp = sizes.residual * 2 + sizes.up + clamped + gate + sizes.inner;
  const Bytes in_attention = sizes.residual + sizes.qkv + sizes.scores * 2 + sizes.query;
  return std::max(in_mlp, in_attention);
}

Bytes backward(const LocalShape& shape, const Sizes& sizes, Bytes mlp, Bytes dropped_scores) {
  // The residual's gradient is alive throughout. A gathered or masked copy of it feeds the row-parallel layer.
  const Bytes copy = shape.sequence_parallel || shape.dropout ? sizes.whole : Bytes{};
  const Bytes in_down = sizes.residual + copy + sizes.inner;
  const Bytes in_activation = sizes.residual + sizes.inner + sizes.up - sizes.down_input;
  const Bytes in_up = sizes.residual + sizes.up + sizes.whole - sizes.down_input - sizes.activation_input;
  // Gradients of the probabilities and of the scores; a fused kernel writes those of query, key and value at once.
  const Bytes scores = materialises_scores(shape) ? sizes.scores * 2 + dropped_scores : sizes.qkv;
  const Bytes in_attention = sizes.residual + sizes.query + scores - mlp;
  return std::max({in_down, in_activation, in_up, in_attention});
}

WorkingSet working_set(const LocalShape& shape, const std::vector<SavedTensor>& tensors, const Sizes& sizes,
                       Recompute recompute) {
  const Bytes recomputed = activations_of(shape, tensors, recompute).recomputed;
  const Bytes mlp = kept_by_mlp(shape, tensors);
  if (recompute == Recompute::full || recompute == Recompute::per_op) {
    return {forward_without_backward(shape, sizes), recomputed + backward(shape, sizes, mlp, {})};
  }
  return {forward_with_backward_to_come(shape, sizes, mlp, recomputed), backward(shape, sizes, mlp, recomputed)};
}

}  // namespace

WorkingSet block_working_set(const LocalShape& shape, const BlockKind& kind, Recompute recompute) {
  const Sizes sizes = kind.experts ? expert_sizes(shape, kind) : sizes_of(shape, kind);
  return working_set(shape, block_tensors(shape, kind), sizes, recompute);
}

}  // namespace stagecraft

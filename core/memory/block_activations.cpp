#include <algorithm>

#include "memory/activations.hpp"

namespace stagecraft {
namespace {

/// RMSNorm written out in PyTorch works on an fp32 copy, which it keeps in the place of the 16-bit input, and keeps the
/// 16-bit result before the product with the weight. LayerNorm is one kernel in PyTorch itself.
void add_unfused_norm(const char* copy, const char* result, const LocalShape& shape, std::vector<SavedTensor>& rows) {
  if (shape.fused || shape.layer_norm || shape.activation == Dtype::fp32) return;
  const double width = shape.tokens * shape.hidden;
  rows.push_back({copy, width / 2, Dtype::fp32, Shard::sequence, Held::forward_to_input_grad, Dropped::by_norms});
  rows.push_back({result, width, shape.activation, Shard::sequence, Held::forward_to_input_grad, Dropped::by_norms});
}

}  // namespace

void add_core_attention_tensors(const LocalShape& shape, double output, std::vector<SavedTensor>& rows) {
  const double scores = shape.tokens * shape.sequence * shape.heads;
  const Dtype dtype = shape.activation;
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  if (materialises_scores(shape)) {
    const bool fused_softmax = shape.attention_kernel == AttentionKernel::fused_softmax;
    // The unfused softmax runs in fp32 and keeps its own output beside the 16-bit probabilities.
    const Dtype softmax = fused_softmax ? dtype : Dtype::fp32;
    rows.push_back({"softmax output", scores, softmax, Shard::tensor, to_input_grad, Dropped::by_selective});
    if (shape.dropout) {
      rows.push_back(
          {"attention dropout mask", scores, Dtype::int8, Shard::tensor, to_input_grad, Dropped::by_selective});
      rows.push_back({"attention dropout output", scores, dtype, Shard::tensor, to_input_grad, Dropped::by_selective});
    } else if (softmax != dtype) {
      rows.push_back({"attention probabilities", scores, dtype, Shard::tensor, to_input_grad, Dropped::by_selective});
    }
  } else {
    rows.push_back({"attention log-sum-exp", shape.tokens * shape.heads, Dtype::fp32, Shard::tensor, to_input_grad,
                    Dropped::by_selective, 1});
    if (shape.linear_input != dtype) {
      rows.push_back({"attention output", output, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
    }
  }
  rows.push_back({"projection input", output, shape.linear_input, Shard::tensor, Held::forward_to_weight_grad,
                  Dropped::by_full, 1});
}

void add_attention_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const double width = shape.tokens * shape.hidden;
  const double query = shape.tokens * shape.heads * shape.head_dim;
  const double key = shape.tokens * shape.kv_heads * shape.head_dim;
  const Dtype dtype = shape.activation;
  constexpr auto to_input_grad = Held::forward_to_input_grad;

  rows.push_back({"attention norm input", width, dtype, Shard::sequence, to_input_grad, Dropped::never});
  rows.push_back({"attention norm statistics", shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32, Shard::sequence,
                  to_input_grad, Dropped::by_full});
  rows.push_back(
      {"qkv input", width, shape.linear_input, Shard::sequence, Held::forward_to_weight_grad, Dropped::by_norms});
  add_unfused_norm("attention norm in fp32", "attention norm output", shape, rows);
  rows.push_back({"query", query, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
  rows.push_back({"key", key, dtype, Shard::tensor, to_input_grad, Dropped::by_full});
  rows.push_back({"value", key, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
  add_core_attention_tensors(shape, query, rows);
  if (shape.dropout) {
    rows.push_back(
        {"attention residual dropout mask", width, Dtype::int8, Shard::sequence, to_input_grad, Dropped::by_full});
  }
  rows.push_back({"qkv output gradient", query + 2 * key, shape.linear_input, Shard::tensor,
                  Held::input_grad_to_weight_grad, Dropped::by_full});
  rows.push_back({"projection output gradient", width, shape.linear_input, Shard::whole,
                  Held::input_grad_to_weight_grad, Dropped::by_full});
}

void add_mlp_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const double width = shape.tokens * shape.hidden;
  const double up = shape.tokens * up_width(shape);
  const double inner = shape.tokens * shape.ffn;
  const Dtype dtype = shape.activation;
  constexpr auto to_input_grad = Held::forward_to_input_grad;

  rows.push_back({"mlp norm input", width, dtype, Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back({"mlp norm statistics", shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32, Shard::sequence,
                  to_input_grad, Dropped::by_full});
  rows.push_back(
      {"mlp input", width, shape.linear_input, Shard::sequence, Held::forward_to_weight_grad, Dropped::by_norms});
  add_unfused_norm("mlp norm in fp32", "mlp norm output", shape, rows);
  // ReLU differentiates from its output, which is the next row's input.
  if (!shape.relu || shape.gated) {
    rows.push_back(
        {"mlp activation input", up, dtype, Shard::tensor, to_input_grad, Dropped::by_mlp, shape.gated ? 0.5 : 1});
  }
  if (shape.gated && !shape.fused) {
    rows.push_back({"activated gate", inner, dtype, Shard::tensor, to_input_grad, Dropped::by_activation});
  }
  rows.push_back({"mlp down input", inner, shape.linear_input, Shard::tensor, Held::forward_to_weight_grad,
                  Dropped::by_activation});
  rows.push_back({"mlp output", width, dtype, Shard::sequence, to_input_grad, Dropped::only_per_op, 1});
  if (shape.dropout) {
    rows.push_back({"mlp residual dropout mask", width, Dtype::int8, Shard::sequence, to_input_grad, Dropped::by_full});
  }
  rows.push_back({"mlp up output gradient", up, shape.linear_input, Shard::tensor, Held::input_grad_to_weight_grad,
                  Dropped::by_full});
  rows.push_back({"mlp down output gradient", width, shape.linear_input, Shard::whole, Held::input_grad_to_weight_grad,
                  Dropped::by_full});
}

std::vector<SavedTensor> block_tensors(const LocalShape& shape) {
  std::vector<SavedTensor> rows;
  rows.reserve(24);
  if (shape.latent.kv_rank > 0) {
    add_latent_attention_tensors(shape, rows);
  } else {
    add_attention_tensors(shape, rows);
  }
  add_mlp_tensors(shape, rows);
  return rows;
}

}  // namespace stagecraft

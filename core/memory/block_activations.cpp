#include <algorithm>

#include "memory/attention_memory.hpp"
#include "memory/norm_tensors.hpp"

namespace stagecraft {
namespace {

void add_post_norm(const char* input, const char* statistics, const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const double width = shape.tokens * shape.hidden;
  rows.push_back({input, width, shape.activation, Shard::sequence, Held::forward_to_input_grad, Dropped::by_full});
  rows.push_back({statistics, shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32, Shard::sequence,
                  Held::forward_to_input_grad, Dropped::by_full});
}

}  // namespace

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
  if (shape.clamp_apart) rows.push_back({"mlp clamp input", up, dtype, Shard::tensor, to_input_grad, Dropped::by_mlp});
  // ReLU differentiates from its output, which is the next row's input.
  if (!shape.relu || shape.gated) {
    rows.push_back({"mlp activation input", up, dtype, Shard::tensor, to_input_grad, activation_input_dropped(shape),
                    shape.gated ? 0.5 : 1});
  }
  if (shape.gated && !shape.fused_gate) {
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

std::vector<SavedTensor> block_tensors(const LocalShape& shape, const BlockKind& kind) {
  std::vector<SavedTensor> rows;
  rows.reserve(48);
  if (kind.prediction) add_prediction_tensors(shape, rows);
  attention_memory_of(shape.attention).add_tensors(shape, rows);
  if (shape.post_norms) add_post_norm("attention post-norm input", "attention post-norm statistics", shape, rows);
  if (kind.cross) add_cross_attention_tensors(shape, rows);
  (kind.experts ? add_moe_tensors : add_mlp_tensors)(shape, rows);
  if (shape.post_norms) add_post_norm("mlp post-norm input", "mlp post-norm statistics", shape, rows);
  return rows;
}

}  // namespace stagecraft

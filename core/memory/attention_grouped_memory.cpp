// Multi-head and grouped-query attention as Megatron-LM computes it (arXiv 2205.05198, figure 3).

#include "memory/attention_memory.hpp"
#include "memory/core_attention_tensors.hpp"
#include "memory/norm_tensors.hpp"

namespace stagecraft {
namespace {

/// Norms over each head of queries and keys keep what entered them; what leaves is what attention keeps.
void add_head_norms(const LocalShape& shape, double query, double key, std::vector<SavedTensor>& rows) {
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  const Dtype dtype = shape.activation;
  rows.push_back({"query before its norm", query, dtype, Shard::tensor, to_input_grad, Dropped::by_norms});
  rows.push_back({"key before its norm", key, dtype, Shard::tensor, to_input_grad, Dropped::by_norms});
  rows.push_back({"head norm statistics", shape.tokens * (shape.heads + shape.kv_heads), Dtype::fp32, Shard::tensor,
                  to_input_grad, Dropped::by_full});
}

}  // namespace

void add_grouped_parameters(const ModelSpec& model, std::vector<ParameterTensor>& tensors) {
  const double hidden = static_cast<double>(model.hidden);
  const double query = static_cast<double>(model.attention.heads * model.attention.head_dim);
  const double key = static_cast<double>(model.attention.kv_heads * model.attention.head_dim);
  tensors.push_back({"qkv weight", hidden * (query + 2 * key), true, true, query + 2 * key});
  if (model.attention.bias) tensors.push_back({"qkv bias", query + 2 * key, true, false});
  tensors.push_back({"projection weight", query * hidden, true, true, hidden});
  if (has_output_bias(model.attention)) tensors.push_back({"projection bias", hidden, false, false});
  if (model.attention.qk_norm) {
    tensors.push_back({"head norm weights", 2 * static_cast<double>(model.attention.head_dim), false, false});
  }
}

void add_grouped_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
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
  if (shape.head_norms) add_head_norms(shape, query, key, rows);
  rows.push_back({"query", query, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
  rows.push_back({"key", key, dtype, Shard::tensor, to_input_grad, Dropped::by_full});
  rows.push_back({"value", key, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
  add_core_attention_tensors(shape, self_attention(shape, query), rows);
  if (shape.dropout) {
    rows.push_back(
        {"attention residual dropout mask", width, Dtype::int8, Shard::sequence, to_input_grad, Dropped::by_full});
  }
  rows.push_back({"qkv output gradient", query + 2 * key, shape.linear_input, Shard::tensor,
                  Held::input_grad_to_weight_grad, Dropped::by_full});
  rows.push_back({"projection output gradient", width, shape.linear_input, Shard::whole,
                  Held::input_grad_to_weight_grad, Dropped::by_full});
}

AttentionWidths grouped_widths(const LocalShape& shape) {
  const double query = shape.heads * shape.head_dim;
  return {query + 2 * shape.kv_heads * shape.head_dim, query};
}

}  // namespace stagecraft

// Multi-head latent attention as Megatron-LM computes it (core/transformer/multi_latent_attention.py): query and
// key-value latents are normed and projected up; keys get the common rotary part of all heads.

#include "memory/attention_memory.hpp"
#include "memory/core_attention_tensors.hpp"

namespace stagecraft {

void add_latent_parameters(const ModelSpec& model, std::vector<ParameterTensor>& tensors) {
  const LatentSpec& latent = model.attention.latent;
  const double hidden = static_cast<double>(model.hidden);
  const double heads = static_cast<double>(model.attention.heads);
  const double rope = static_cast<double>(latent.rope_dim), value = static_cast<double>(latent.value_dim);
  const double nope = static_cast<double>(model.attention.head_dim);
  const double query = heads * (nope + rope), up = heads * (nope + value);
  const double query_rank = static_cast<double>(latent.query_rank), kv_rank = static_cast<double>(latent.kv_rank);
  if (query_rank > 0) {
    tensors.push_back({"query down weight", hidden * query_rank, false, true, query_rank});
    tensors.push_back({"query latent norm", query_rank, false, false});
    tensors.push_back({"query up weight", query_rank * query, true, true, query});
  } else {
    tensors.push_back({"query weight", hidden * query, true, true, query});
  }
  tensors.push_back({"key-value down weight", hidden * (kv_rank + rope), false, true, kv_rank + rope});
  tensors.push_back({"key-value latent norm", kv_rank, false, false});
  tensors.push_back({"key-value up weight", kv_rank * up, true, true, up});
  tensors.push_back({"projection weight", heads * value * hidden, true, true, hidden});
}

void add_latent_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const LatentSpec& latent = shape.attention.latent;
  const double width = shape.tokens * shape.hidden;
  const double query_rank = shape.tokens * static_cast<double>(latent.query_rank);
  const double kv_rank = shape.tokens * static_cast<double>(latent.kv_rank);
  const double query = shape.tokens * shape.heads * (shape.head_dim + static_cast<double>(latent.rope_dim));
  const double value = shape.tokens * shape.heads * static_cast<double>(latent.value_dim);
  const double up = shape.tokens * shape.heads * (shape.head_dim + static_cast<double>(latent.value_dim));
  const Dtype dtype = shape.activation;
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  constexpr auto to_weight_grad = Held::forward_to_weight_grad;
  constexpr auto from_input_grad = Held::input_grad_to_weight_grad;

  rows.push_back({"attention norm input", width, dtype, Shard::sequence, to_input_grad, Dropped::never});
  rows.push_back({"attention norm statistics", shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32, Shard::sequence,
                  to_input_grad, Dropped::by_full});
  rows.push_back({"latent input", width, shape.linear_input, Shard::sequence, to_weight_grad, Dropped::by_norms});
  if (latent.query_rank > 0) {
    rows.push_back({"query latent norm input", query_rank, dtype, Shard::sequence, to_input_grad, Dropped::by_full});
    rows.push_back(
        {"query latent", query_rank, shape.linear_input, Shard::sequence, to_weight_grad, Dropped::by_norms});
  }
  rows.push_back({"key-value latent norm input", kv_rank, dtype, Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back({"key-value latent", kv_rank, shape.linear_input, Shard::sequence, to_weight_grad, Dropped::by_norms});
  rows.push_back({"query", query, dtype, Shard::tensor, to_input_grad, Dropped::by_latent_up, 1});
  rows.push_back({"key", query, dtype, Shard::tensor, to_input_grad, Dropped::by_latent_up});
  rows.push_back({"value", value, dtype, Shard::tensor, to_input_grad, Dropped::by_latent_up, 1});
  add_core_attention_tensors(shape, self_attention(shape, value), rows);
  if (shape.dropout) {
    rows.push_back(
        {"attention residual dropout mask", width, Dtype::int8, Shard::sequence, to_input_grad, Dropped::by_full});
  }
  if (latent.query_rank > 0) {
    rows.push_back({"query latent gradient", query_rank, dtype, Shard::whole, from_input_grad, Dropped::by_full});
  }
  rows.push_back(
      {"query output gradient", query, shape.linear_input, Shard::tensor, from_input_grad, Dropped::by_full});
  rows.push_back({"key-value up gradient", up, shape.linear_input, Shard::tensor, from_input_grad, Dropped::by_full});
  rows.push_back({"key-value latent gradient", kv_rank + shape.tokens * static_cast<double>(latent.rope_dim), dtype,
                  Shard::whole, from_input_grad, Dropped::by_full});
  rows.push_back(
      {"projection output gradient", width, shape.linear_input, Shard::whole, from_input_grad, Dropped::by_full});
}

/// Queries and keys have a rotary part beside the width of a head.
AttentionWidths latent_widths(const LocalShape& shape) {
  const LatentSpec& latent = shape.attention.latent;
  const double rope = static_cast<double>(latent.rope_dim), value = static_cast<double>(latent.value_dim);
  return {shape.heads * (2 * (shape.head_dim + rope) + value), shape.heads * value};
}

}  // namespace stagecraft

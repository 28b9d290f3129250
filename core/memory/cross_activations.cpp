// A decoder block's attention to the encoder's output (arXiv 1706.03762, section 3.2.3), as Megatron-LM computes it
// (core/transformer/attention.py, CrossAttention): a product for the queries, one for keys and values together.

#include "memory/core_attention_tensors.hpp"

namespace stagecraft {

void add_cross_attention_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const double width = shape.tokens * shape.hidden;
  const double query = shape.tokens * shape.heads * shape.head_dim;
  const double key = shape.encoder_sequence * shape.samples * shape.kv_heads * shape.head_dim;
  const Dtype dtype = shape.activation;
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  constexpr auto from_input_grad = Held::input_grad_to_weight_grad;

  rows.push_back({"cross-attention norm input", width, dtype, Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back({"cross-attention norm statistics", shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32,
                  Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back({"cross-attention query input", width, shape.linear_input, Shard::sequence,
                  Held::forward_to_weight_grad, Dropped::by_norms});
  rows.push_back({"cross-attention query", query, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
  rows.push_back({"cross-attention key", key, dtype, Shard::tensor, to_input_grad, Dropped::by_full});
  rows.push_back({"cross-attention value", key, dtype, Shard::tensor, to_input_grad, Dropped::by_full, 1});
  add_core_attention_tensors(shape, {shape.encoder_sequence, query, true}, rows);
  if (shape.dropout) {
    rows.push_back({"cross-attention residual dropout mask", width, Dtype::int8, Shard::sequence, to_input_grad,
                    Dropped::by_full});
  }
  rows.push_back({"cross-attention query output gradient", query, shape.linear_input, Shard::tensor, from_input_grad,
                  Dropped::by_full});
  rows.push_back({"cross-attention key-value output gradient", 2 * key, shape.linear_input, Shard::tensor,
                  from_input_grad, Dropped::by_full});
  rows.push_back({"cross-attention projection output gradient", width, shape.linear_input, Shard::whole,
                  from_input_grad, Dropped::by_full});
}

SavedTensor encoder_output(const LocalShape& shape) {
  return {"encoder output",
          shape.encoder_sequence * shape.samples * shape.hidden,
          shape.linear_input,
          Shard::sequence,
          Held::forward_to_weight_grad,
          Dropped::never};
}

}  // namespace stagecraft

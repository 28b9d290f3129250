#pragma once
// Core attention: softmax(Q K^T / sqrt(d)) V per head, with grouped-query heads (arXiv 2305.13245), causal or not.

#include "exec/model/shape.hpp"
#include "exec/model/tape.hpp"

namespace stagecraft {

/// Heads of this rank inside one [rows, (heads + 2 kv_heads) * head_dim] tensor: queries, then keys, then values.
struct HeadLayout {
  std::int64_t sequences = 1, length = 1, heads = 1, kv_heads = 1, head_dim = 1;
  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t width() const { return (heads + 2 * kv_heads) * head_dim; }
  std::int64_t heads_per_key() const { return heads / kv_heads; }
};

/// Views into a packed tensor (values or gradients), each [sequences, kv_heads, heads per key, length, head_dim]; keys
/// and values have one head per key.
struct HeadViews {
  at::Tensor query, key, value;
};
HeadViews head_views(const at::Tensor& packed, const HeadLayout& layout);

/// packed [rows, width] -> [rows, heads * head_dim]. Flash kernels keep the output and one statistic per row; the
/// others keep the probabilities, or with `recompute` selective nothing but their inputs.
at::Tensor attend(const at::Tensor& packed, const HeadLayout& layout, const ModelShape& shape, Tape* tape);

at::Tensor attend_flash(const at::Tensor& packed, const HeadLayout& layout, const ModelShape& shape, Tape* tape);
at::Tensor attend_unfused(const at::Tensor& packed, const HeadLayout& layout, const ModelShape& shape, Tape* tape);

/// Rotary position embedding (arXiv 2104.09864), halves rotated as in Llama; in place on queries and keys. `direction`
/// -1 turns gradients back.
void rotate(const at::Tensor& packed, const HeadLayout& layout, const at::Tensor& cosine, const at::Tensor& sine,
            double direction);
/// [length, head_dim / 2] tables of angles position * 10000^(-2i/d).
struct RotaryTables {
  at::Tensor cosine, sine;
};
RotaryTables rotary_tables(std::int64_t length, std::int64_t head_dim, const at::TensorOptions& options);

}  // namespace stagecraft

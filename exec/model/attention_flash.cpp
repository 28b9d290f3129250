// Fused attention by ATen's kernels: its own on CPU; on a GPU FlashAttention-2 for 16-bit types and the
// memory-efficient kernel for fp32. One call per sequence with the heads that share a key as one batch entry, so that
// keys are never copied.

#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>

#include <array>

#include "exec/model/attention.hpp"

namespace stagecraft {

namespace {

/// What a kernel hands its own backward.
struct Kept {
  at::Tensor output, statistics, a, b;
  c10::SymInt longest_query, longest_key;
};

struct Heads {
  at::Tensor query, key, value;  // [kv_heads, heads per key, length, head_dim]; key and value repeat with stride 0
};

Heads heads_of(const HeadViews& views, std::int64_t sequence, const HeadLayout& layout) {
  const std::array<std::int64_t, 4> sizes{layout.kv_heads, layout.heads_per_key(), layout.length, layout.head_dim};
  return {views.query[sequence], views.key[sequence].expand(sizes), views.value[sequence].expand(sizes)};
}

bool sixteen_bit(const at::Tensor& x) {
  return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
}

Kept forward_kernel(const Heads& h, bool causal) {
  Kept kept;
  if (h.query.is_cpu()) {
    std::tie(kept.output, kept.statistics) =
        at::_scaled_dot_product_flash_attention_for_cpu(h.query, h.key, h.value, 0.0, causal);
  } else if (sixteen_bit(h.query)) {
    at::Tensor debug;
    std::tie(kept.output, kept.statistics, std::ignore, std::ignore, kept.longest_query, kept.longest_key, kept.a,
             kept.b, debug) = at::_scaled_dot_product_flash_attention(h.query, h.key, h.value, 0.0, causal);
  } else {
    std::tie(kept.output, kept.statistics, kept.a, kept.b) =
        at::_scaled_dot_product_efficient_attention(h.query, h.key, h.value, std::nullopt, true, 0.0, causal);
  }
  return kept;
}

std::array<at::Tensor, 3> backward_kernel(const Heads& h, const at::Tensor& g, const Kept& kept, bool causal) {
  at::Tensor dq, dk, dv, unused;
  if (h.query.is_cpu()) {
    std::tie(dq, dk, dv) = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        g, h.query, h.key, h.value, kept.output, kept.statistics, 0.0, causal);
  } else if (sixteen_bit(h.query)) {
    std::tie(dq, dk, dv) = at::_scaled_dot_product_flash_attention_backward_symint(
        g, h.query, h.key, h.value, kept.output, kept.statistics, {}, {}, kept.longest_query, kept.longest_key, 0.0,
        causal, kept.a, kept.b);
  } else {
    std::tie(dq, dk, dv, unused) = at::_scaled_dot_product_efficient_attention_backward(
        g, h.query, h.key, h.value, {}, kept.output, kept.statistics, kept.a, kept.b, 0.0, {true, true, true, false},
        causal);
  }
  return {dq, dk, dv};
}

/// [rows, heads * head_dim] of one sequence as [kv_heads, heads per key, length, head_dim].
at::Tensor as_heads(const at::Tensor& rows, std::int64_t sequence, const HeadLayout& l) {
  return rows.narrow(0, sequence * l.length, l.length)
      .view({l.length, l.kv_heads, l.heads_per_key(), l.head_dim})
      .permute({1, 2, 0, 3});
}

}  // namespace

at::Tensor attend_flash(const at::Tensor& packed, const HeadLayout& layout, const ModelShape& shape, Tape* tape) {
  const HeadViews views = head_views(packed, layout);
  const at::Tensor output = at::empty({packed.size(0), layout.query_width()}, packed.options());
  std::vector<Kept> kept;
  for (std::int64_t sequence = 0; sequence < layout.sequences; ++sequence) {
    Kept one = forward_kernel(heads_of(views, sequence, layout), shape.causal);
    as_heads(output, sequence, layout).copy_(one.output);
    one.output = as_heads(output, sequence, layout);  // one copy serves the projection and this backward
    kept.push_back(std::move(one));
  }
  if (tape != nullptr) {
    tape->push([packed, layout, causal = shape.causal, kept = std::move(kept)](const at::Tensor& g, Backward&) {
      const HeadViews inputs = head_views(packed, layout);
      at::Tensor gradient = at::empty({packed.size(0), layout.width()}, packed.options());
      const HeadViews gradients = head_views(gradient, layout);
      for (std::int64_t sequence = 0; sequence < layout.sequences; ++sequence) {
        const auto [dq, dk, dv] = backward_kernel(heads_of(inputs, sequence, layout), as_heads(g, sequence, layout),
                                                  kept[static_cast<std::size_t>(sequence)], causal);
        gradients.query[sequence].copy_(dq);
        gradients.key[sequence].copy_(dk.sum(1, /*keepdim=*/true));
        gradients.value[sequence].copy_(dv.sum(1, /*keepdim=*/true));
      }
      return gradient;
    });
  }
  return output;
}

}  // namespace stagecraft

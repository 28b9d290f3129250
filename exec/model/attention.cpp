#include "exec/model/attention.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>

namespace stagecraft {

HeadViews head_views(const at::Tensor& packed, const HeadLayout& l) {
  const auto part = [&](std::int64_t first, std::int64_t groups, std::int64_t per_group) {
    return packed.narrow(1, first * l.head_dim, groups * per_group * l.head_dim)
        .view({l.sequences, l.length, groups, per_group, l.head_dim})
        .permute({0, 2, 3, 1, 4});
  };
  return {part(0, l.kv_heads, l.heads_per_key()), part(l.heads, l.kv_heads, 1),
          part(l.heads + l.kv_heads, l.kv_heads, 1)};
}

at::Tensor attend(const at::Tensor& packed, const HeadLayout& layout, const ModelShape& shape, Tape* tape) {
  const bool unfused = shape.attention == AttentionKernel::unfused || shape.attention == AttentionKernel::fused_softmax;
  return unfused ? attend_unfused(packed, layout, shape, tape) : attend_flash(packed, layout, shape, tape);
}

RotaryTables rotary_tables(std::int64_t length, std::int64_t head_dim, const at::TensorOptions& options) {
  const at::TensorOptions exact = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor exponents = at::arange(0, head_dim, 2, exact).mul_(-1.0 / static_cast<double>(head_dim));
  const at::Tensor angles = at::outer(at::arange(length, exact), at::pow(10000.0, exponents));
  return {at::cos(angles).to(options), at::sin(angles).to(options)};
}

void rotate(const at::Tensor& packed, const HeadLayout& layout, const at::Tensor& cosine, const at::Tensor& sine,
            double direction) {
  const HeadViews views = head_views(packed, layout);
  const std::int64_t half = layout.head_dim / 2;
  for (const at::Tensor& heads : {views.query, views.key}) {
    const at::Tensor a = heads.narrow(4, 0, half), b = heads.narrow(4, half, half);
    const at::Tensor a_sine = at::mul(a, sine).mul_(direction);
    a.mul_(cosine).sub_(at::mul(b, sine).mul_(direction));
    b.mul_(cosine).add_(a_sine);
  }
}

}  // namespace stagecraft

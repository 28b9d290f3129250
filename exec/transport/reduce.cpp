#include "exec/transport/reduce.hpp"

#include <ATen/ops/maximum.h>

namespace stagecraft {

namespace {

void combine_into(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Reduction reduction) {
  if (reduction == Reduction::sum) {
    at::add_out(out, a, b);
  } else {
    at::maximum_out(out, a, b);
  }
}

}  // namespace

void reduce_in_order(const at::Tensor& output, std::span<const at::Tensor> parts, Reduction reduction) {
  at::Tensor out = output;
  if (parts.size() == 1) {
    if (out.data_ptr() != parts[0].data_ptr()) out.copy_(parts[0]);
    return;
  }
  // Two addends are rounded once whatever the type; of three or more in bf16 or fp16 the partial sums need more bits.
  const bool half = out.scalar_type() == at::kBFloat16 || out.scalar_type() == at::kHalf;
  const bool widen = half && reduction == Reduction::sum && parts.size() > 2;
  if (parts.size() == 2) {
    combine_into(out, parts[0], parts[1], reduction);
    return;
  }
  at::Tensor sum = widen ? parts[0].to(at::kFloat) : parts[0].clone();
  for (const at::Tensor& part : parts.subspan(1)) combine_into(sum, sum, part, reduction);
  out.copy_(sum);
}

}  // namespace stagecraft

#pragma once
// Sums and maxima in ascending order of the operands, the reduction of every back end that asks for equal bits.

#include <span>

#include "exec/transport/transport.hpp"

namespace stagecraft {

/// output = parts[0] (+ or max) parts[1] ..., left to right; bf16 and fp16 are added in fp32 and rounded once. `output`
/// may be one of the parts. All hold the same number of elements.
void reduce_in_order(const at::Tensor& output, std::span<const at::Tensor> parts, Reduction reduction);

}  // namespace stagecraft

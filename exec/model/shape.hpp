#pragma once
// Sizes and types that the layers of one rank are built with. Rows are (sequence of the micro-batch, position),
// position fastest; under sequence parallelism a rank holds an equal run of them outside the tensor-parallel regions.

#include "exec/model/tensor_group.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

struct ModelShape {
  std::int64_t sequences = 1, length = 1;                                   // of a micro-batch: sequences x tokens
  std::int64_t hidden = 1, heads = 1, kv_heads = 1, head_dim = 1, ffn = 1;  // whole
  std::int64_t vocabulary = 1, padded_vocabulary = 1;                       // whole
  std::int64_t blocks = 1;                                                  // of the whole model
  bool gated = false, causal = true, fused = true;
  Activation activation = Activation::gelu;
  Norm norm = Norm::layer_norm;
  Positions positions = Positions::learned;
  AttentionKernel attention = AttentionKernel::flash_2;
  Recompute recompute = Recompute::none;
  at::ScalarType dtype = at::kFloat;  // of weights and activations
  at::Device device = at::kCPU;

  std::int64_t rows() const { return sequences * length; }
  at::TensorOptions options() const { return at::TensorOptions().dtype(dtype).device(device); }
};

ModelShape model_shape(const Plan& plan, at::ScalarType dtype, at::Device device);

/// Tokens and next tokens of one micro-batch, [rows] int64.
struct Batch {
  at::Tensor tokens, labels;
  at::Tensor samples, targets;  // plain layers: [sequences, width] in the model's type
};

}  // namespace stagecraft

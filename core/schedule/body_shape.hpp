#pragma once
// Sizes that the segments of a body are written in: those of one rank of the tensor and context group and one
// micro-batch.

#include <cstdint>

#include "plan/plan.hpp"

namespace stagecraft {

struct BodyShape {
  std::int64_t sequences = 1;     // of a micro-batch
  std::int64_t query_length = 1;  // tokens of one sequence on this context rank
  std::int64_t key_length = 1;    // tokens that a query may attend to
  std::int64_t tokens = 1;        // sequences * query_length: rows of the GEMMs
  std::int64_t norm_tokens =
      1;  // rows of norms, dropouts and residuals: tokens, or tokens / t under sequence parallelism
  std::int64_t hidden = 1;
  std::int64_t heads = 1;     // of this rank
  std::int64_t kv_heads = 1;  // of this rank, at least one
  std::int64_t head_dim = 1;
  std::int64_t query_width = 1;  // heads * head_dim
  std::int64_t qkv_width = 1;    // (heads + 2 * kv_heads) * head_dim
  std::int64_t ffn = 1;          // of this rank
  std::int64_t vocabulary = 1;   // of this rank
  std::int64_t tensor = 1, context = 1;
  bool sequence_parallel = false;   // and tensor > 1
  bool fused = true;                // element-wise chains in one kernel each
  bool fused_gate = true;           // the product with the gate is part of the activation's kernel
  bool clamp_apart = false;         // what enters the activation is clamped by kernels of its own
  bool norm_in_passes = false;      // RMS norm written in elementary operations of the framework, in fp32
  bool accumulates_in_gemm = true;  // weight-gradient GEMMs add into the gradient buffer
  double element = 2;               // bytes of an activation
  double gradient = 2;              // bytes of an accumulated weight gradient
  Dtype gemm_dtype = Dtype::bf16;
  Dtype element_dtype = Dtype::bf16;
  Fp8Scaling fp8_scaling = Fp8Scaling::per_tensor;  // of GEMMs in fp8
  double fp8_copies = 2;  // of a tensor that is scaled as a whole: as it is, and transposed where GEMMs need that
};

BodyShape body_shape(const Plan& plan);

/// The same for blocks of an encoder, which sees a sequence of its own length.
BodyShape encoder_shape(const Plan& plan);

}  // namespace stagecraft

#include "schedule/body_shape.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

std::int64_t share(std::int64_t amount, std::int64_t parts) {
  return (amount + parts - 1) / std::max<std::int64_t>(parts, 1);
}

Dtype gemm_dtype_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return Dtype::fp32;
    case Precision::tf32:
      return Dtype::tf32;
    case Precision::fp16_mixed:
      return Dtype::fp16;
    case Precision::fp8_mixed:
      return Dtype::fp8;
    case Precision::bf16_mixed:
    case Precision::bf16_pure:
      break;
  }
  return Dtype::bf16;
}

// fp16 runs of Megatron-LM accumulate in fp16, bf16 and fp8 runs in fp32 main gradients.
double gradient_bytes(Precision precision) {
  return precision == Precision::fp16_mixed || precision == Precision::bf16_pure ? 2 : 4;
}

}  // namespace

BodyShape body_shape(const Plan& plan) {
  const ModelSpec& model = plan.model;
  const RunSpec& run = plan.run;
  BodyShape shape;
  shape.tensor = plan.degrees.tensor;
  shape.context = plan.degrees.context;
  shape.sequence_parallel = run.parallel.sequence_parallel && shape.tensor > 1;
  shape.sequences = run.batch.micro;
  shape.key_length = run.sequence_length;
  shape.query_length = share(run.sequence_length, shape.context);
  shape.tokens = shape.sequences * shape.query_length;
  shape.norm_tokens = shape.sequence_parallel ? share(shape.tokens, shape.tensor) : shape.tokens;
  shape.hidden = model.hidden;
  shape.heads = share(model.attention.heads, shape.tensor);
  shape.kv_heads = share(model.attention.kv_heads, shape.tensor);
  shape.head_dim = model.attention.head_dim;
  shape.query_width = shape.heads * shape.head_dim;
  shape.qkv_width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
  shape.ffn = share(model.mlp.ffn_hidden, shape.tensor);
  shape.vocabulary = share(padded_vocabulary(plan), shape.tensor);
  shape.fused = run.fused_kernels;
  shape.norm_in_passes = !shape.fused && model.norm == Norm::rms_norm;
  shape.accumulates_in_gemm = run.gradient_accumulation_fusion;
  shape.gemm_dtype = gemm_dtype_of(run.precision);
  shape.element_dtype = shape.gemm_dtype == Dtype::fp8 ? Dtype::bf16 : shape.gemm_dtype;
  shape.element = shape.gemm_dtype == Dtype::fp32 || shape.gemm_dtype == Dtype::tf32 ? 4 : 2;
  shape.gradient = gradient_bytes(run.precision);
  return shape;
}

}  // namespace stagecraft

#include "schedule/body_shape.hpp"

#include <algorithm>

#include "spec/precision.hpp"

namespace stagecraft {
namespace {

std::int64_t share(std::int64_t amount, std::int64_t parts) {
  return (amount + parts - 1) / std::max<std::int64_t>(parts, 1);
}

}  // namespace

namespace {

BodyShape shape_over(const Plan& plan, std::int64_t sequence_length) {
  const ModelSpec& model = plan.model;
  const RunSpec& run = plan.run;
  BodyShape shape;
  shape.tensor = plan.degrees.tensor;
  shape.context = plan.degrees.context;
  shape.sequence_parallel = run.parallel.sequence_parallel && shape.tensor > 1;
  shape.sequences = run.batch.micro;
  shape.key_length = sequence_length;
  shape.query_length = share(sequence_length, shape.context);
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
  shape.fused_gate = has_fused_gate(run);
  shape.clamp_apart = model.mlp.clamp > 0 && !has_fused_clamp(run);
  shape.norm_in_passes = !shape.fused && model.norm == Norm::rms_norm;
  shape.accumulates_in_gemm = run.gradient_accumulation_fusion;
  const NumberFormats formats = number_formats(run.precision);
  shape.gemm_dtype = formats.gemm;
  shape.fp8_scaling = plan.run.fp8_scaling;
  // TransformerEngine, common/util/cuda_runtime.cpp: from Blackwell on fp8 GEMMs take operands in any layout.
  if (plan.gpu.architecture == "blackwell") shape.fp8_copies = 1;
  shape.element_dtype = formats.gemm == Dtype::tf32 ? Dtype::tf32 : formats.activation;
  shape.element = size_of(formats.activation).value;
  shape.gradient = size_of(gradient_dtype(run)).value;
  return shape;
}

}  // namespace

BodyShape body_shape(const Plan& plan) {
  return shape_over(plan, plan.run.sequence_length);
}

BodyShape encoder_shape(const Plan& plan) {
  return shape_over(plan, encoder_length(plan));
}

}  // namespace stagecraft

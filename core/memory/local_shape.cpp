#include "memory/local_shape.hpp"

#include <cmath>

#include "spec/precision.hpp"

namespace stagecraft {

LocalShape local_shape(const Plan& plan) {
  const ModelSpec& model = plan.model;
  const RunSpec& run = plan.run;
  LocalShape shape;
  shape.samples = static_cast<double>(run.batch.micro);
  shape.tensor = static_cast<double>(plan.degrees.tensor);
  shape.sequence_parallel = run.parallel.sequence_parallel && plan.degrees.tensor > 1;
  shape.activation = number_formats(run.precision).activation;
  shape.linear_input = run.precision == Precision::fp8_mixed ? Dtype::fp8 : shape.activation;
  if (!model.plain_layers.empty()) return shape;
  shape.sequence = static_cast<double>(run.sequence_length);
  shape.tokens = shape.sequence / static_cast<double>(plan.degrees.context) * shape.samples;
  shape.hidden = static_cast<double>(model.hidden);
  shape.heads = static_cast<double>(model.attention.heads);
  shape.kv_heads = static_cast<double>(model.attention.kv_heads);
  shape.head_dim = static_cast<double>(model.attention.head_dim);
  shape.ffn = static_cast<double>(model.mlp.ffn_hidden);
  shape.vocabulary = static_cast<double>(padded_vocabulary(plan));
  shape.gated = model.mlp.gated;
  shape.layer_norm = model.norm == Norm::layer_norm;
  shape.dropout = model.dropout > 0;
  shape.post_norms = model.post_norms;
  shape.head_norms = model.attention.qk_norm;
  if (model.encoder_blocks > 0) shape.encoder_sequence = static_cast<double>(encoder_length(plan));
  shape.relu = model.mlp.activation == Activation::relu;
  shape.fused = run.fused_kernels;
  shape.attention_kernel = run.attention_kernel;
  shape.attention = model.attention;
  shape.moe = model.moe;
  shape.expert = static_cast<double>(run.parallel.expert);
  shape.expert_tensor = static_cast<double>(group_size(plan.degrees, Axis::expert_tensor));
  if (model.moe.capacity_factor <= 0) shape.expert_load = plan.busiest_expert_rank;
  shape.modules = run.recompute_modules;
  shape.loss = run.loss_kernel;
  shape.drops_logits = run.framework == Framework::fsdp;
  shape.fused_gate = has_fused_gate(run);
  shape.clamp_apart = model.mlp.clamp > 0 && !has_fused_clamp(run);
  shape.keeps_fp32_logits = run.framework == Framework::nanotron;
  return shape;
}

LocalShape encoder_shape_of(const Plan& plan, const LocalShape& shape) {
  LocalShape encoder = shape;
  encoder.sequence = static_cast<double>(encoder_length(plan));
  encoder.tokens = encoder.sequence * shape.samples;
  return encoder;
}

Bytes bytes_on_rank(const LocalShape& shape, double elements, Dtype dtype, Shard shard) {
  const bool divided = shard == Shard::tensor || (shard == Shard::sequence && shape.sequence_parallel);
  return {std::ceil(size_of(dtype).value * (divided ? elements / shape.tensor : elements))};
}

}  // namespace stagecraft

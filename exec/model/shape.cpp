#include "exec/model/shape.hpp"

namespace stagecraft {

ModelShape model_shape(const Plan& plan, at::ScalarType dtype, at::Device device) {
  const ModelSpec& model = plan.model;
  ModelShape shape;
  shape.sequences = plan.run.batch.micro;
  shape.length = plan.run.sequence_length;
  shape.hidden = model.hidden;
  shape.heads = model.attention.heads;
  shape.kv_heads = model.attention.kv_heads;
  shape.head_dim = model.attention.head_dim;
  shape.ffn = model.mlp.ffn_hidden;
  shape.vocabulary = model.vocabulary;
  shape.padded_vocabulary = padded_vocabulary(plan);
  shape.blocks = model.blocks;
  shape.gated = model.mlp.gated;
  shape.causal = model.attention.causal;
  shape.fused = plan.run.fused_kernels;
  shape.activation = model.mlp.activation;
  shape.norm = model.norm;
  shape.positions = model.positions;
  shape.attention = plan.run.attention_kernel;
  shape.recompute = plan.run.recompute;
  shape.dtype = dtype;
  shape.device = device;
  return shape;
}

}  // namespace stagecraft

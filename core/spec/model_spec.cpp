#include "spec/model_spec.hpp"

#include <cstddef>

namespace stagecraft {
namespace {

double as_number(std::int64_t value) {
  return static_cast<double>(value);
}

double norm_parameters(const ModelSpec& model) {
  return (model.norm == Norm::layer_norm ? 2.0 : 1.0) * as_number(model.hidden);  // scale and shift, or scale
}

double latent_attention_parameters(const ModelSpec& model) {
  const LatentSpec& latent = model.attention.latent;
  const double hidden = as_number(model.hidden), heads = as_number(model.attention.heads);
  const double query_head = as_number(model.attention.head_dim + latent.rope_dim);
  const double query_rank = as_number(latent.query_rank), kv_rank = as_number(latent.kv_rank);
  // Queries through their latent and its norm, or straight; then the common latent, its norm, and keys and values of
  // it.
  const double query = latent.query_rank > 0 ? hidden * query_rank + query_rank + query_rank * heads * query_head
                                             : hidden * heads * query_head;
  const double key_value = hidden * (kv_rank + as_number(latent.rope_dim)) + kv_rank +
                           kv_rank * heads * as_number(model.attention.head_dim + latent.value_dim);
  return query + key_value + heads * as_number(latent.value_dim) * hidden;
}

double attention_parameters(const ModelSpec& model) {
  if (model.attention.latent.kv_rank > 0) return latent_attention_parameters(model);
  const double hidden = as_number(model.hidden);
  const double query = as_number(model.attention.heads) * as_number(model.attention.head_dim);
  const double key_value = 2.0 * as_number(model.attention.kv_heads) * as_number(model.attention.head_dim);
  const double bias = model.attention.bias ? query + key_value + hidden : 0.0;
  return hidden * (query + key_value) + query * hidden + bias;
}

double mlp_parameters(const ModelSpec& model, std::int64_t inner) {
  const double hidden = as_number(model.hidden);
  const double ffn = as_number(inner);
  const double up = model.mlp.gated ? 2.0 : 1.0;
  const double bias = model.mlp.bias ? up * ffn + hidden : 0.0;
  return up * hidden * ffn + ffn * hidden + bias;
}

// Router, experts, and the experts that every token passes.
double moe_parameters(const ModelSpec& model) {
  const MoeSpec& moe = model.moe;
  const double matrices = (model.mlp.gated ? 3.0 : 2.0) * as_number(model.hidden) * as_number(moe.ffn_hidden);
  const double shared = moe.shared_ffn_hidden > 0 ? mlp_parameters(model, moe.shared_ffn_hidden) : 0.0;
  return as_number(moe.experts) * (as_number(model.hidden) + matrices) + shared;
}

double inner_parameters(const ModelSpec& model, std::int32_t block) {
  const bool experts = model.moe.experts > 0 && block >= model.moe.dense_blocks;
  return experts ? moe_parameters(model) : mlp_parameters(model, model.mlp.ffn_hidden);
}

}  // namespace

Bytes size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
    case Dtype::tf32:
    case Dtype::int32:
      return {4};
    case Dtype::fp16:
    case Dtype::bf16:
      return {2};
    case Dtype::fp8:
    case Dtype::int8:
      return {1};
    case Dtype::int64:
      return {8};
  }
  return {4};
}

std::vector<Layer> layers_of(const ModelSpec& model) {
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < model.plain_layers.size(); ++i)
    layers.push_back({LayerKind::plain, static_cast<std::int32_t>(i)});
  if (!layers.empty()) return layers;
  layers.push_back({LayerKind::embedding, 0});
  for (std::int64_t i = 0; i < model.blocks; ++i) layers.push_back({LayerKind::block, static_cast<std::int32_t>(i)});
  layers.push_back({LayerKind::head, 0});
  layers.push_back({LayerKind::loss, 0});
  return layers;
}

double parameters_of(const ModelSpec& model, const Layer& layer) {
  const double table = as_number(model.vocabulary) * as_number(model.hidden);
  switch (layer.kind) {
    case LayerKind::embedding: {
      const bool learned = model.positions == Positions::learned;
      return table + (learned ? as_number(model.sequence_length) * as_number(model.hidden) : 0.0);
    }
    case LayerKind::block:
      return attention_parameters(model) + inner_parameters(model, layer.index) + 2.0 * norm_parameters(model);
    case LayerKind::head:
      return norm_parameters(model) + (model.tied_embeddings ? 0.0 : table);
    case LayerKind::loss:
      return 0.0;
    case LayerKind::plain:
      return model.plain_layers[static_cast<std::size_t>(layer.index)].parameters;
  }
  return 0.0;
}

double parameters_of(const ModelSpec& model) {
  double sum = 0.0;
  for (const Layer& layer : layers_of(model)) sum += parameters_of(model, layer);
  return sum;
}

}  // namespace stagecraft

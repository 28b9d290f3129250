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

double attention_parameters(const ModelSpec& model) {
  const double hidden = as_number(model.hidden);
  const double query = as_number(model.attention.heads) * as_number(model.attention.head_dim);
  const double key_value = 2.0 * as_number(model.attention.kv_heads) * as_number(model.attention.head_dim);
  const double bias = model.attention.bias ? query + key_value + hidden : 0.0;
  return hidden * (query + key_value) + query * hidden + bias;
}

double mlp_parameters(const ModelSpec& model) {
  const double hidden = as_number(model.hidden);
  const double ffn = as_number(model.mlp.ffn_hidden);
  const double up = model.mlp.gated ? 2.0 : 1.0;
  const double bias = model.mlp.bias ? up * ffn + hidden : 0.0;
  return up * hidden * ffn + ffn * hidden + bias;
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
      return attention_parameters(model) + mlp_parameters(model) + 2.0 * norm_parameters(model);
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

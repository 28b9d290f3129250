#include "spec/model_spec.hpp"

#include <algorithm>
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
  const double bias =
      (model.attention.bias ? query + key_value : 0.0) + (has_output_bias(model.attention) ? hidden : 0.0);
  const double head_norms = model.attention.qk_norm ? 2.0 * as_number(model.attention.head_dim) : 0.0;
  return hidden * (query + key_value) + query * hidden + bias + head_norms;
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
  const double expert = mlp_parameters(model, moe.ffn_hidden);
  const double shared = moe.shared_ffn_hidden > 0 ? mlp_parameters(model, moe.shared_ffn_hidden) : 0.0;
  return as_number(moe.experts) * (as_number(model.hidden) + expert) + shared;
}

double block_parameters(const ModelSpec& model, std::int32_t index) {
  const BlockKind kind = block_kind(model, index);
  const double norm = norm_parameters(model), hidden = as_number(model.hidden);
  double sum = attention_parameters(model) + (model.post_norms ? 4.0 : 2.0) * norm;
  sum += kind.experts ? moe_parameters(model) : mlp_parameters(model, model.mlp.ffn_hidden);
  if (kind.cross) sum += attention_parameters(model) + norm;
  // Norms of the two inputs, their projection, and the norm before the common head (arXiv 2412.19437, section 2.2).
  if (kind.prediction) sum += 3.0 * norm + 2.0 * hidden * hidden;
  return sum;
}

double relative_positions(const ModelSpec& model) {
  return as_number(model.attention.relative_buckets) * as_number(model.attention.heads);
}

double embedding_parameters(const ModelSpec& model) {
  const double hidden = as_number(model.hidden);
  const EmbeddingSpec& embedding = model.embedding;
  const bool patches = embedding.patch_inputs > 0;
  double sum = patches ? (as_number(embedding.patch_inputs) + 1.0) * hidden : as_number(model.vocabulary) * hidden;
  if (model.positions == Positions::learned) sum += as_number(model.sequence_length) * hidden;
  sum += (as_number(embedding.extra_tokens) + as_number(embedding.token_types)) * hidden;
  if (embedding.norm) sum += norm_parameters(model);
  // The first block's table of relative positions serves all; an encoder has its own, and a final norm.
  sum += relative_positions(model);
  if (model.encoder_blocks > 0 && model.encoder_blocks < model.blocks) {
    sum += relative_positions(model) + (model.head.norm ? norm_parameters(model) : 0.0);
  }
  return sum;
}

double head_parameters(const ModelSpec& model) {
  const double hidden = as_number(model.hidden), dense = hidden * hidden + hidden;
  const HeadSpec& head = model.head;
  double sum = head.norm ? norm_parameters(model) : 0.0;
  if (head.transform) sum += dense + norm_parameters(model);
  if (head.pooler) sum += dense;
  if (!head.projection) return sum;
  if (!model.tied_embeddings) sum += as_number(model.vocabulary) * hidden;
  return sum + (head.bias ? as_number(model.vocabulary) : 0.0);
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

std::int64_t block_count(const ModelSpec& model) {
  return model.blocks + model.prediction_modules;
}

BlockKind block_kind(const ModelSpec& model, std::int32_t index) {
  BlockKind kind;
  const std::int64_t behind = index - model.moe.dense_blocks;
  kind.prediction = index >= model.blocks;
  kind.experts = model.moe.experts > 0 && behind >= 0 && behind % std::max<std::int64_t>(1, model.moe.every) == 0;
  const std::int64_t every = model.attention.global_every;
  kind.windowed = model.attention.window > 0 && (every == 0 || index % every != every - 1);
  kind.encoder = index < model.encoder_blocks && model.encoder_blocks < model.blocks;
  kind.cross = model.encoder_blocks > 0 && index >= model.encoder_blocks;
  return kind;
}

std::vector<Layer> layers_of(const ModelSpec& model) {
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < model.plain_layers.size(); ++i)
    layers.push_back({LayerKind::plain, static_cast<std::int32_t>(i)});
  if (!layers.empty()) return layers;
  layers.push_back({LayerKind::embedding, 0});
  for (std::int64_t i = 0; i < block_count(model); ++i)
    layers.push_back({LayerKind::block, static_cast<std::int32_t>(i)});
  layers.push_back({LayerKind::head, 0});
  layers.push_back({LayerKind::loss, 0});
  return layers;
}

double parameters_of(const ModelSpec& model, const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::embedding:
      return embedding_parameters(model);
    case LayerKind::block:
      return block_parameters(model, layer.index);
    case LayerKind::head:
      return head_parameters(model);
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

double whole_parameters_of(const ModelSpec& model, const Layer& layer) {
  if (layer.kind != LayerKind::block) return 0.0;
  const LatentSpec& latent = model.attention.latent;
  const double hidden = as_number(model.hidden);
  const bool routes = block_kind(model, layer.index).experts;
  const double router = routes ? hidden * as_number(model.moe.experts) : 0.0;
  if (latent.kv_rank == 0) return router;
  return router + hidden * as_number(latent.query_rank + latent.kv_rank + latent.rope_dim);
}

double expert_parameters_of(const ModelSpec& model, const Layer& layer) {
  if (layer.kind != LayerKind::block || !block_kind(model, layer.index).experts) return 0.0;
  return as_number(model.moe.experts) * mlp_parameters(model, model.moe.ffn_hidden);
}

double active_parameters_of(const ModelSpec& model) {
  double sum = parameters_of(model);
  if (model.moe.experts == 0) return sum;
  const double idle = 1.0 - as_number(model.moe.top_k) / as_number(model.moe.experts);
  for (const Layer& layer : layers_of(model)) sum -= idle * expert_parameters_of(model, layer);
  return sum;
}

std::vector<std::string> types_of(const ModelSpec& model, const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::embedding:
      return {"embedding"};
    case LayerKind::head:
      return {"head"};
    case LayerKind::loss:
      return {};
    case LayerKind::plain:
      return {model.plain_layers[static_cast<std::size_t>(layer.index)].name};
    case LayerKind::block:
      break;
  }
  const BlockKind kind = block_kind(model, layer.index);
  std::vector<std::string> types{"block", kind.experts ? "experts" : "dense"};
  if (model.encoder_blocks > 0) types.emplace_back(kind.encoder ? "encoder" : "decoder");
  if (kind.prediction) types.emplace_back("prediction");
  return types;
}

}  // namespace stagecraft

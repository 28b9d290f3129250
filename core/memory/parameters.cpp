#include "memory/parameters.hpp"

#include <cmath>

namespace stagecraft {
namespace {

void add_norm(const ModelSpec& model, const char* weight, const char* bias, std::vector<ParameterTensor>& tensors) {
  const double hidden = static_cast<double>(model.hidden);
  tensors.push_back({weight, hidden, false, false});
  if (model.norm == Norm::layer_norm) tensors.push_back({bias, hidden, false, false});
}

using Tensors = std::vector<ParameterTensor>;

void add_attention(const ModelSpec& model, Tensors& tensors) {
  const double hidden = static_cast<double>(model.hidden);
  const double query = static_cast<double>(model.attention.heads * model.attention.head_dim);
  const double key = static_cast<double>(model.attention.kv_heads * model.attention.head_dim);
  tensors.push_back({"qkv weight", hidden * (query + 2 * key), true, true, query + 2 * key});
  if (model.attention.bias) tensors.push_back({"qkv bias", query + 2 * key, true, false});
  tensors.push_back({"projection weight", query * hidden, true, true, hidden});
  if (model.attention.bias) tensors.push_back({"projection bias", hidden, false, false});
}

void add_latent_attention(const ModelSpec& model, Tensors& tensors) {
  const LatentSpec& latent = model.attention.latent;
  const double hidden = static_cast<double>(model.hidden);
  const double heads = static_cast<double>(model.attention.heads);
  const double rope = static_cast<double>(latent.rope_dim), value = static_cast<double>(latent.value_dim);
  const double nope = static_cast<double>(model.attention.head_dim);
  const double query = heads * (nope + rope), up = heads * (nope + value);
  const double query_rank = static_cast<double>(latent.query_rank), kv_rank = static_cast<double>(latent.kv_rank);
  if (query_rank > 0) {
    tensors.push_back({"query down weight", hidden * query_rank, false, true, query_rank});
    tensors.push_back({"query latent norm", query_rank, false, false});
    tensors.push_back({"query up weight", query_rank * query, true, true, query});
  } else {
    tensors.push_back({"query weight", hidden * query, true, true, query});
  }
  tensors.push_back({"key-value down weight", hidden * (kv_rank + rope), false, true, kv_rank + rope});
  tensors.push_back({"key-value latent norm", kv_rank, false, false});
  tensors.push_back({"key-value up weight", kv_rank * up, true, true, up});
  tensors.push_back({"projection weight", heads * value * hidden, true, true, hidden});
}

void add_mlp(const ModelSpec& model, double inner, const char* up_name, const char* down_name, Tensors& tensors) {
  const double hidden = static_cast<double>(model.hidden);
  const double up = model.mlp.gated ? 2 * inner : inner;
  tensors.push_back({up_name, hidden * up, true, true, up});
  if (model.mlp.bias) tensors.push_back({"mlp up bias", up, true, false});
  tensors.push_back({down_name, inner * hidden, true, true, hidden});
  if (model.mlp.bias) tensors.push_back({"mlp down bias", hidden, false, false});
}

void add_experts(const ModelSpec& model, Tensors& tensors) {
  const MoeSpec& moe = model.moe;
  const double hidden = static_cast<double>(model.hidden), experts = static_cast<double>(moe.experts);
  const double inner = static_cast<double>(moe.ffn_hidden), up = model.mlp.gated ? 2 * inner : inner;
  tensors.push_back({"router weight", hidden * experts, false, true, experts});
  tensors.push_back({"experts up weight", experts * hidden * up, true, true, up, experts});
  tensors.push_back({"experts down weight", experts * inner * hidden, true, true, hidden, experts});
  if (moe.shared_ffn_hidden > 0) {
    add_mlp(model, static_cast<double>(moe.shared_ffn_hidden), "shared expert up weight", "shared expert down weight",
            tensors);
  }
}

Tensors block_parameters(const ModelSpec& model, std::int32_t index) {
  Tensors tensors;
  tensors.reserve(16);
  add_norm(model, "attention norm weight", "attention norm bias", tensors);
  if (model.attention.latent.kv_rank > 0) {
    add_latent_attention(model, tensors);
  } else {
    add_attention(model, tensors);
  }
  add_norm(model, "mlp norm weight", "mlp norm bias", tensors);
  if (model.moe.experts > 0 && index >= model.moe.dense_blocks) {
    add_experts(model, tensors);
  } else {
    add_mlp(model, static_cast<double>(model.mlp.ffn_hidden), "mlp up weight", "mlp down weight", tensors);
  }
  return tensors;
}

double vocabulary_rows(const Plan& plan) {
  return static_cast<double>(padded_vocabulary(plan));
}

double word_embedding_elements(const Plan& plan) {
  return vocabulary_rows(plan) * static_cast<double>(plan.model.hidden);
}

}  // namespace

std::vector<ParameterTensor> parameter_tensors(const Plan& plan, const Layer& layer) {
  const ModelSpec& model = plan.model;
  std::vector<ParameterTensor> tensors;
  switch (layer.kind) {
    case LayerKind::block:
      return block_parameters(model, layer.index);
    case LayerKind::embedding:
      tensors.push_back({"word embedding", word_embedding_elements(plan), true, true, vocabulary_rows(plan)});
      if (model.positions == Positions::learned) {
        tensors.push_back(
            {"position embedding", static_cast<double>(model.sequence_length * model.hidden), false, false});
      }
      break;
    case LayerKind::head:
      add_norm(model, "final norm weight", "final norm bias", tensors);
      if (!model.tied_embeddings) {
        tensors.push_back({"head weight", word_embedding_elements(plan), true, true, vocabulary_rows(plan)});
      }
      break;
    case LayerKind::loss:
      break;
    case LayerKind::plain:
      tensors.push_back({"parameters", parameters_of(model, layer), false, true});
      break;
  }
  return tensors;
}

ParameterTensor tied_head_copy(const Plan& plan) {
  return {"word embedding copy", word_embedding_elements(plan), true, true, vocabulary_rows(plan)};
}

ParameterCount& ParameterCount::operator+=(const ParameterCount& other) {
  dense += other.dense;
  expert += other.expert;
  factored_dense += other.factored_dense;
  factored_expert += other.factored_expert;
  small += other.small;
  return *this;
}

ParameterCount ParameterCount::operator-() const {
  return {-dense, -expert, -factored_dense, -factored_expert, -small};
}

ParameterCount count_on_rank(const std::vector<ParameterTensor>& tensors, double tensor, double expert) {
  constexpr double small_tensor = 4096;
  ParameterCount count;
  for (const ParameterTensor& parameter : tensors) {
    const bool routed = parameter.experts > 0;
    const double matrices = routed ? std::ceil(parameter.experts / expert) : 1;
    const double whole = routed ? parameter.elements / parameter.experts : parameter.elements;
    const double one = parameter.divided ? std::ceil(whole / tensor) : whole;
    (routed ? count.expert : count.dense) += matrices * one;
    // Which side the tensor group divides changes the sum little; it divides the rows here.
    const double rows = parameter.rows > 0 ? std::ceil(parameter.rows / (parameter.divided ? tensor : 1)) : 0;
    (routed ? count.factored_expert : count.factored_dense) += matrices * (rows > 0 ? rows + one / rows : one);
    if (one < small_tensor) count.small += matrices * one;
  }
  return count;
}

double parameters_on_rank(const std::vector<ParameterTensor>& tensors, double tensor) {
  double sum = 0;
  for (const ParameterTensor& parameter : tensors) {
    sum += parameter.divided ? std::ceil(parameter.elements / tensor) : parameter.elements;
  }
  return sum;
}

}  // namespace stagecraft

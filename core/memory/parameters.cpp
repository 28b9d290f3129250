#include "memory/parameters.hpp"

#include <cmath>

namespace stagecraft {
namespace {

void add_norm(const ModelSpec& model, const char* weight, const char* bias, std::vector<ParameterTensor>& tensors) {
  const double hidden = static_cast<double>(model.hidden);
  tensors.push_back({weight, hidden, false, false});
  if (model.norm == Norm::layer_norm) tensors.push_back({bias, hidden, false, false});
}

std::vector<ParameterTensor> block_parameters(const ModelSpec& model) {
  const double hidden = static_cast<double>(model.hidden);
  const double query = static_cast<double>(model.attention.heads * model.attention.head_dim);
  const double key = static_cast<double>(model.attention.kv_heads * model.attention.head_dim);
  const double inner = static_cast<double>(model.mlp.ffn_hidden);
  const double up = model.mlp.gated ? 2 * inner : inner;
  std::vector<ParameterTensor> tensors;
  tensors.reserve(12);
  add_norm(model, "attention norm weight", "attention norm bias", tensors);
  tensors.push_back({"qkv weight", hidden * (query + 2 * key), true, true});
  if (model.attention.bias) tensors.push_back({"qkv bias", query + 2 * key, true, false});
  tensors.push_back({"projection weight", query * hidden, true, true});
  if (model.attention.bias) tensors.push_back({"projection bias", hidden, false, false});
  add_norm(model, "mlp norm weight", "mlp norm bias", tensors);
  tensors.push_back({"mlp up weight", hidden * up, true, true});
  if (model.mlp.bias) tensors.push_back({"mlp up bias", up, true, false});
  tensors.push_back({"mlp down weight", inner * hidden, true, true});
  if (model.mlp.bias) tensors.push_back({"mlp down bias", hidden, false, false});
  return tensors;
}

double word_embedding_elements(const Plan& plan) {
  return static_cast<double>(padded_vocabulary(plan)) * static_cast<double>(plan.model.hidden);
}

}  // namespace

std::vector<ParameterTensor> parameter_tensors(const Plan& plan, const Layer& layer) {
  const ModelSpec& model = plan.model;
  std::vector<ParameterTensor> tensors;
  switch (layer.kind) {
    case LayerKind::block:
      return block_parameters(model);
    case LayerKind::embedding:
      tensors.push_back({"word embedding", word_embedding_elements(plan), true, true});
      if (model.positions == Positions::learned) {
        tensors.push_back(
            {"position embedding", static_cast<double>(model.sequence_length * model.hidden), false, false});
      }
      break;
    case LayerKind::head:
      add_norm(model, "final norm weight", "final norm bias", tensors);
      if (!model.tied_embeddings) tensors.push_back({"head weight", word_embedding_elements(plan), true, true});
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
  return {"word embedding copy", word_embedding_elements(plan), true, true};
}

double parameters_on_rank(const std::vector<ParameterTensor>& tensors, double tensor) {
  double sum = 0;
  for (const ParameterTensor& parameter : tensors) {
    sum += parameter.divided ? std::ceil(parameter.elements / tensor) : parameter.elements;
  }
  return sum;
}

}  // namespace stagecraft

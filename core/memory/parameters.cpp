#include "memory/parameters.hpp"

#include <cmath>

#include "memory/attention_memory.hpp"

namespace stagecraft {
namespace {

void add_norm(const ModelSpec& model, const char* weight, const char* bias, std::vector<ParameterTensor>& tensors) {
  const double hidden = static_cast<double>(model.hidden);
  tensors.push_back({weight, hidden, false, false});
  if (model.norm == Norm::layer_norm) tensors.push_back({bias, hidden, false, false});
}

using Tensors = std::vector<ParameterTensor>;

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
  if (model.mlp.bias) tensors.push_back({"experts up bias", experts * up, true, false, 0, experts});
  tensors.push_back({"experts down weight", experts * inner * hidden, true, true, hidden, experts});
  if (model.mlp.bias) tensors.push_back({"experts down bias", experts * hidden, false, false, 0, experts});
  if (moe.shared_ffn_hidden > 0) {
    add_mlp(model, static_cast<double>(moe.shared_ffn_hidden), "shared expert up weight", "shared expert down weight",
            tensors);
  }
}

Tensors block_parameters(const ModelSpec& model, std::int32_t index) {
  Tensors tensors;
  tensors.reserve(24);
  const BlockKind kind = block_kind(model, index);
  add_norm(model, "attention norm weight", "attention norm bias", tensors);
  attention_memory_of(model.attention).add_parameters(model, tensors);
  add_norm(model, "mlp norm weight", "mlp norm bias", tensors);
  if (kind.experts) {
    add_experts(model, tensors);
  } else {
    add_mlp(model, static_cast<double>(model.mlp.ffn_hidden), "mlp up weight", "mlp down weight", tensors);
  }
  if (model.post_norms) {
    add_norm(model, "attention post-norm weight", "attention post-norm bias", tensors);
    add_norm(model, "mlp post-norm weight", "mlp post-norm bias", tensors);
  }
  if (kind.cross) {
    add_grouped_parameters(model, tensors);
    add_norm(model, "cross-attention norm weight", "cross-attention norm bias", tensors);
  }
  if (kind.prediction) {
    const double hidden = static_cast<double>(model.hidden);
    tensors.push_back({"prediction projection weight", 2 * hidden * hidden, false, true, hidden});
    for (int norm = 0; norm < 3; ++norm) add_norm(model, "prediction norm weight", "prediction norm bias", tensors);
  }
  return tensors;
}

// The first block's table serves all blocks; an encoder has its own and a final norm.
void add_relative_positions(const ModelSpec& model, Tensors& tensors) {
  const double table = static_cast<double>(model.attention.relative_buckets * model.attention.heads);
  const bool both = model.encoder_blocks > 0 && model.encoder_blocks < model.blocks;
  if (table > 0) tensors.push_back({"relative positions", both ? 2 * table : table, true, false});
  if (both && model.head.norm) add_norm(model, "encoder norm weight", "encoder norm bias", tensors);
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
  const double hidden = static_cast<double>(model.hidden);
  std::vector<ParameterTensor> tensors;
  switch (layer.kind) {
    case LayerKind::block:
      return block_parameters(model, layer.index);
    case LayerKind::embedding:
      if (model.embedding.patch_inputs > 0) {
        const double inputs = static_cast<double>(model.embedding.patch_inputs);
        tensors.push_back({"patch projection", (inputs + 1) * hidden, false, true, hidden});
      } else {
        tensors.push_back({"word embedding", word_embedding_elements(plan), true, true, vocabulary_rows(plan)});
      }
      if (const std::int64_t rows = model.embedding.extra_tokens + model.embedding.token_types; rows > 0) {
        tensors.push_back({"extra tokens and token types", static_cast<double>(rows) * hidden, false, false});
      }
      if (model.embedding.norm) add_norm(model, "embedding norm weight", "embedding norm bias", tensors);
      add_relative_positions(model, tensors);
      if (model.positions == Positions::learned) {
        tensors.push_back(
            {"position embedding", static_cast<double>(model.sequence_length * model.hidden), false, false});
      }
      break;
    case LayerKind::head:
      if (model.head.norm) add_norm(model, "final norm weight", "final norm bias", tensors);
      if (model.head.transform) {
        tensors.push_back({"head transform", hidden * hidden + hidden, false, true, hidden});
        add_norm(model, "head transform norm weight", "head transform norm bias", tensors);
      }
      if (model.head.pooler) tensors.push_back({"pooler", hidden * hidden + hidden, false, true, hidden});
      if (!model.head.projection) break;
      if (model.head.bias) tensors.push_back({"head bias", vocabulary_rows(plan), true, false});
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

ParameterCount count_on_rank(const std::vector<ParameterTensor>& tensors, double dense_tensor, double expert,
                             double expert_tensor) {
  constexpr double small_tensor = 4096;
  ParameterCount count;
  for (const ParameterTensor& parameter : tensors) {
    const bool routed = parameter.experts > 0;
    const double tensor = routed && expert_tensor > 0 ? expert_tensor : dense_tensor;
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

// The model: shapes as stated, the rest by family. A gated MLP means the LLaMA family (RMS norm, rotary positions, no
// biases, no dropout), anything else GPT.

#include <nlohmann/json.hpp>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

std::string norm_of(Draft& draft, bool llama) {
  const std::string& word = draft.record.model.normalization;
  if (!word.empty()) return contains(word, "rms") ? "rms_norm" : "layer_norm";
  const char* norm = llama ? "rms_norm" : "layer_norm";
  infer(draft, "/model/norm", norm, llama ? "gated MLP: the LLaMA family" : "no gated MLP: the GPT family");
  return norm;
}

std::string positions_of(Draft& draft, bool llama) {
  const RecordModel& model = draft.record.model;
  if (contains(model.position, "rope") || contains(model.position, "rotary")) return "rotary";
  if (contains(model.position, "learned")) return "learned";
  if (contains(model.attention, "alibi") || contains(model.position, "none")) return "none";
  const char* positions = llama ? "rotary" : "learned";
  infer(draft, "/model/positions", positions, llama ? "gated MLP: the LLaMA family" : "no gated MLP: the GPT family");
  return positions;
}

bool bias_of(Draft& draft, bool llama) {
  const RecordModel& model = draft.record.model;
  if (model.linear_bias) return *model.linear_bias;
  if (contains(model.attention, "no bias")) return false;
  const bool bias = !llama && !contains(model.activation, "squared");
  infer(draft, "/model/mlp/bias", bias ? "true" : "false",
        bias ? "no gated MLP: the GPT family" : "the LLaMA and Nemotron families have none");
  return bias;
}

std::string activation_of(Draft& draft, bool gated) {
  const std::string& word = draft.record.model.activation;
  if (contains(word, "relu")) return "relu";
  if (contains(word, "swiglu") || contains(word, "silu")) return "silu";
  if (contains(word, "gelu") || contains(word, "geglu")) return "gelu";
  const char* activation = gated ? "silu" : "gelu";
  infer(draft, "/model/mlp/activation", activation, "the activation is not stated");
  return activation;
}

bool gated_of(Draft& draft) {
  const RecordModel& model = draft.record.model;
  if (model.gated) return *model.gated;
  const bool gated = contains(model.activation, "glu") && !contains(model.activation, "gelu");
  infer(draft, "/model/mlp/gated", gated ? "true" : "false", "not stated");
  return gated;
}

}  // namespace

void map_model(Draft& draft) {
  const RecordModel& model = draft.record.model;
  if (model.experts) throw Unmapped("mixture-of-experts models cannot be expressed");
  if (contains(model.attention, "MLA")) throw Unmapped("multi-head latent attention cannot be expressed");
  const bool gated = gated_of(draft);
  const std::int64_t hidden = stated(model.hidden, "model.hidden"), heads = stated(model.heads, "model.heads");
  std::int64_t ffn = 4 * hidden, vocabulary = 50257;
  if (model.ffn) {
    ffn = *model.ffn;
  } else {
    infer(draft, "/model/mlp/ffn_hidden", std::to_string(ffn), "not stated: four times the hidden size");
  }
  if (model.vocabulary) {
    vocabulary = *model.vocabulary;
  } else {
    infer(draft, "/model/vocabulary", std::to_string(vocabulary), "not stated: the vocabulary of GPT-2");
  }
  bool tied = !gated;
  if (model.tied_embeddings) {
    tied = *model.tied_embeddings;
  } else {
    infer(draft, "/model/tied_embeddings", tied ? "true" : "false",
          "not stated: GPT shares its embeddings, LLaMA does not");
  }
  const double dropout = gated ? 0 : draft.software.dropout;
  infer(draft, "/model/dropout", dropout > 0 ? "0.1" : "0", draft.software.why);
  const bool bias = bias_of(draft, gated);
  OrderedJson attention{{"heads", heads}, {"kv_heads", model.kv_heads.value_or(heads)}};
  if (model.head_dim) attention["head_dim"] = *model.head_dim;
  attention["causal"] = true;
  attention["bias"] = bias;
  draft.scenario["model"] = {
      {"name", model.name.empty() ? draft.record.id : model.name},
      {"hidden", hidden},
      {"blocks", stated(model.layers, "model.layers")},
      {"vocabulary", vocabulary},
      {"sequence_length", stated(model.sequence, "model.seq")},
      {"attention", attention},
      {"mlp", {{"ffn_hidden", ffn}, {"gated", gated}, {"activation", activation_of(draft, gated)}, {"bias", bias}}},
      {"norm", norm_of(draft, gated)},
      {"positions", positions_of(draft, gated)},
      {"tied_embeddings", tied},
      {"dropout", dropout}};
}

}  // namespace stagecraft

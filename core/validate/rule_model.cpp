// The model: shapes as stated, the rest by family. A gated MLP means the LLaMA family (RMS norm, rotary positions, no
// biases, no dropout), anything else GPT.

#include <fmt/format.h>

#include <algorithm>

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

bool is_gpt_oss(const std::string& name) {
  return contains(name, "GPT_OSS") || contains(name, "GPT-OSS") || contains(name, "GPT OSS");
}

std::string positions_of(Draft& draft, bool llama) {
  const RecordModel& model = draft.record.model;
  if (contains(model.position, "rope") || contains(model.position, "rotary")) return "rotary";
  if (contains(model.position, "learned")) return "learned";
  if (contains(model.attention, "alibi") || contains(model.position, "none")) return "none";
  if (is_gpt_oss(model.name)) {
    infer(draft, "/model/positions", "yarn", "GPT-OSS (arXiv 2508.10925, section 2.2)");
    return "yarn";
  }
  const char* positions = llama ? "rotary" : "learned";
  infer(draft, "/model/positions", positions, llama ? "gated MLP: the LLaMA family" : "no gated MLP: the GPT family");
  return positions;
}

bool bias_of(Draft& draft, bool llama) {
  const RecordModel& model = draft.record.model;
  if (model.linear_bias) return *model.linear_bias;
  if (is_gpt_oss(model.name)) {
    infer(draft, "/model/mlp/bias", "true", "GPT-OSS, in attention and experts (github.com/openai/gpt-oss)");
    return true;
  }
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

/// The number behind a word: "q_lora 1536" in "MLA (q_lora 1536, kv_lora 512, nope 128, rope 64, v 128)".
std::int64_t number_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word + " ");
  constexpr std::int64_t most = 1 << 24;
  std::int64_t number = 0;
  if (at != std::string::npos) {
    for (std::size_t i = at + word.size() + 1; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      number = std::min(most, number * 10 + (text[i] - '0'));
    }
  }
  if (number == 0) throw Unmapped(fmt::format("latent attention \"{}\" does not say {}", text, word));
  return number;
}

/// GPT-OSS: every other block attends to 128 tokens (arXiv 2508.10925, section 2), and what enters an expert's
/// activation is clamped (github.com/openai/gpt-oss, gpt_oss/torch/model.py).
void map_gpt_oss(Draft& draft) {
  set(draft, "/model/attention/window", std::int64_t{128});
  set(draft, "/model/attention/global_every", std::int64_t{2});
  infer(draft, "/model/attention/window", "128, every other block", "GPT-OSS (arXiv 2508.10925, section 2)");
  set(draft, "/model/mlp/clamp", 7.0);
  infer(draft, "/model/mlp/clamp", "7.0", "GPT-OSS (github.com/openai/gpt-oss)");
}

void map_prediction(Draft& draft) {
  const std::int64_t modules = prediction_modules_of(draft.record);
  if (modules == 0) return;
  set(draft, "/model/prediction_modules", modules);
  infer(draft, "/model/prediction_modules", std::to_string(modules), "NVIDIA's recipe of DeepSeek-V3");
}

void map_attention(Draft& draft, std::int64_t heads, bool bias) {
  const RecordModel& model = draft.record.model;
  set(draft, "/model/attention/heads", heads);
  set(draft, "/model/attention/kv_heads", model.kv_heads.value_or(heads));
  set(draft, "/model/attention/causal", true);
  set(draft, "/model/attention/bias", bias);
  const std::string& text = model.attention;
  if (!contains(text, "MLA")) {
    if (model.head_dim) set(draft, "/model/attention/head_dim", *model.head_dim);
    if (contains(model.name, "Qwen3")) {
      set(draft, "/model/attention/qk_norm", true);
      infer(draft, "/model/attention/qk_norm", "true",
            "Qwen3 normalises queries and keys (arXiv 2505.09388, section 2)");
    }
    if (is_gpt_oss(model.name)) map_gpt_oss(draft);
    return;
  }
  set(draft, "/model/attention/head_dim", number_after(text, "nope"));
  set(draft, "/model/attention/latent/query_rank", number_after(text, "q_lora"));
  set(draft, "/model/attention/latent/kv_rank", number_after(text, "kv_lora"));
  set(draft, "/model/attention/latent/rope_dim", number_after(text, "rope"));
  set(draft, "/model/attention/latent/value_dim", number_after(text, " v"));
}

}  // namespace

bool is_deepseek_v3_of_nvidia(const Record& record) {
  const std::string& name = record.model.name;
  return contains(record.group, "mbridge") && contains(name, "DeepSeek") && contains(name, "V3");
}

std::int64_t prediction_modules_of(const Record& record) {
  return is_deepseek_v3_of_nvidia(record) && !contains(record.notes, "w/o MTP") ? 1 : 0;
}

void map_model(Draft& draft) {
  const RecordModel& model = draft.record.model;
  const bool gated = gated_of(draft);
  const std::int64_t hidden = stated(model.hidden, "model.hidden"), heads = stated(model.heads, "model.heads");
  std::int64_t ffn = 4 * hidden, vocabulary = draft.software.vocabulary;
  if (model.ffn) {
    ffn = *model.ffn;
  } else {
    infer(draft, "/model/mlp/ffn_hidden", std::to_string(ffn), "not stated: four times the hidden size");
  }
  if (model.vocabulary) {
    vocabulary = *model.vocabulary;
  } else {
    infer(draft, "/model/vocabulary", std::to_string(vocabulary),
          vocabulary == gpt_2_vocabulary ? "not stated: the vocabulary of GPT-2" : draft.software.why);
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
  set(draft, "/model/name", model.name.empty() ? draft.record.id : model.name);
  set(draft, "/model/hidden", hidden);
  set(draft, "/model/blocks", stated(model.layers, "model.layers"));
  set(draft, "/model/vocabulary", vocabulary);
  set(draft, "/model/sequence_length", stated(model.sequence, "model.seq"));
  map_attention(draft, heads, bias);
  map_prediction(draft);
  set(draft, "/model/mlp/ffn_hidden", ffn);
  set(draft, "/model/mlp/gated", gated);
  set(draft, "/model/mlp/activation", activation_of(draft, gated));
  set(draft, "/model/mlp/bias", bias);
  set(draft, "/model/norm", norm_of(draft, gated));
  set(draft, "/model/positions", positions_of(draft, gated));
  set(draft, "/model/tied_embeddings", tied);
  set(draft, "/model/dropout", dropout);
}

}  // namespace stagecraft

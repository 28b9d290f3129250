// Hugging Face config.json: the shape of a model. What a config leaves to the code of its architecture stands in a
// table of families (transformers, models/*/modeling_*.py).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "exchange/draft.hpp"

namespace stagecraft {
namespace {

struct Family {
  const char* type;  // model_type
  const char* norm;
  const char* positions;
  bool gated, bias, tied, causal;
  bool qk_norm, post_norms;
  std::int64_t global_every;  // of blocks with a window
};

constexpr std::array families{
    Family{"gpt2", "layer_norm", "learned", false, true, true, true, false, false, 0},
    Family{"gpt_neox", "layer_norm", "rotary", false, true, false, true, false, false, 0},
    Family{"opt", "layer_norm", "learned", false, true, true, true, false, false, 0},
    Family{"bloom", "layer_norm", "none", false, true, true, true, false, false, 0},
    Family{"llama", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"mistral", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"mixtral", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"qwen2", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"qwen2_moe", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"qwen3", "rms_norm", "rotary", true, false, false, true, true, false, 0},
    Family{"qwen3_moe", "rms_norm", "rotary", true, false, false, true, true, false, 0},
    Family{"gemma", "rms_norm", "rotary", true, false, true, true, false, false, 0},
    Family{"gemma2", "rms_norm", "rotary", true, false, true, true, false, true, 2},
    Family{"gpt_oss", "rms_norm", "rotary", true, true, false, true, false, false, 2},
    Family{"deepseek_v2", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"deepseek_v3", "rms_norm", "rotary", true, false, false, true, false, false, 0},
    Family{"bert", "layer_norm", "learned", false, true, true, false, false, false, 0},
    Family{"vit", "layer_norm", "learned", false, true, false, false, false, false, 0},
    Family{"t5", "rms_norm", "relative", false, false, true, true, false, false, 0},
};

constexpr const char* without_effect =
    "architectures torch_dtype dtype transformers_version bos_token_id eos_token_id pad_token_id initializer_range "
    "use_cache rms_norm_eps layer_norm_eps layer_norm_epsilon rope_theta rope_scaling auto_map model_type "
    "pretraining_tp output_router_logits router_aux_loss_coef router_jitter_noise attn_logit_softcapping "
    "final_logit_softcapping query_pre_attn_scalar cache_implementation max_window_layers use_sliding_window "
    "decoder_sparse_step mlp_only_layers norm_topk_prob routed_scaling_factor scoring_func topk_method aux_loss_alpha "
    "seq_aux n_group ep_size moe_layer_freq quantization_config attn_pdrop embd_pdrop summary_activation "
    "summary_first_dropout summary_proj_to_labels summary_type summary_use_proj task_specific_params "
    "initializer_factor layer_types initial_context_length is_encoder_decoder decoder_start_token_id output_past n_ctx "
    "gradient_checkpointing "
    "position_embedding_type classifier_dropout attention_probs_dropout_prob use_bidirectional_attention_mask "
    "encoder_no_repeat_ngram_size id2label label2id problem_type _name_or_path hidden_activation";

const Family& family_of(ForeignConfig& config) {
  const auto type = config.text("model_type");
  if (!type) config.refuse("model_type", "the name of an architecture", "llama");
  const auto found =
      std::find_if(families.begin(), families.end(), [&](const Family& one) { return *type == one.type; });
  if (found != families.end()) return *found;
  std::vector<std::string> names;
  for (const Family& one : families) names.emplace_back(one.type);
  config.refuse("model_type", fmt::format("one of {}", fmt::join(names, ", ")), nearest_word(*type, names));
}

std::int64_t needed(ForeignConfig& config, const char* keys) {
  const auto value = config.integer(keys);
  if (!value) config.refuse(std::string(keys).substr(0, std::string(keys).find(' ')), "an integer");
  return *value;
}

using Json = nlohmann::ordered_json;
using Draft = ScenarioDraft<Json>;

std::string activation_of(ForeignConfig& config, bool& gated) {
  const std::string word =
      config.text("hidden_act activation_function feed_forward_proj hidden_activation").value_or("");
  if (word.rfind("gated-", 0) == 0) gated = true;
  if (word.find("gelu") != std::string::npos) return "gelu";
  if (word.find("relu") != std::string::npos) return "relu";
  if (word.find("silu") != std::string::npos || word.find("swish") != std::string::npos) return "silu";
  return gated ? "silu" : "gelu";
}

Json latent_of(ForeignConfig& config, Json& attention) {
  attention["head_dim"] = needed(config, "qk_nope_head_dim");
  return {{"query_rank", config.integer("q_lora_rank", 0).value_or(0)},
          {"kv_rank", needed(config, "kv_lora_rank")},
          {"rope_dim", needed(config, "qk_rope_head_dim")},
          {"value_dim", needed(config, "v_head_dim")}};
}

Json attention_of(ForeignConfig& config, const Family& family, std::int64_t hidden) {
  Json attention;
  const std::int64_t heads = needed(config, "num_attention_heads n_head num_heads");
  const auto kv_heads = config.integer("num_key_value_heads");
  const auto head_dim = config.integer("head_dim d_kv");
  if (!head_dim && hidden % heads != 0) {
    config.refuse("num_attention_heads", fmt::format("a divisor of hidden_size ({})", hidden));
  }
  if (kv_heads && heads % *kv_heads != 0) {
    config.refuse("num_key_value_heads", fmt::format("a divisor of num_attention_heads ({})", heads));
  }
  attention["heads"] = heads;
  if (kv_heads) attention["kv_heads"] = *kv_heads;
  if (head_dim) attention["head_dim"] = *head_dim;
  attention["causal"] = family.causal;
  const bool qkv_only = std::string(family.type).rfind("qwen2", 0) == 0;
  attention["bias"] = config.flag("attention_bias qkv_bias").value_or(family.bias || qkv_only);
  if (qkv_only) attention["output_bias"] = false;
  if (family.qk_norm) attention["qk_norm"] = true;
  const auto window = config.integer("sliding_window");
  const bool uses_window = config.flag("use_sliding_window").value_or(true);
  if (window && uses_window) attention["window"] = *window;
  if (window && uses_window && family.global_every > 0) attention["global_every"] = family.global_every;
  if (const auto buckets = config.integer("relative_attention_num_buckets")) attention["relative_buckets"] = *buckets;
  config.ignore("relative_attention_max_distance");
  if (config.has("kv_lora_rank")) {
    attention.erase("kv_heads");
    attention["latent"] = latent_of(config, attention);
  }
  return attention;
}

void set_experts(ForeignConfig& config, Json& model) {
  const auto experts = config.integer("num_local_experts num_experts n_routed_experts");
  if (!experts) return;
  const std::int64_t inner =
      config.integer("moe_intermediate_size").value_or(model["mlp"]["ffn_hidden"].get<std::int64_t>());
  const std::int64_t top_k = config.integer("num_experts_per_tok experts_per_token").value_or(1);
  if (top_k > *experts) config.refuse("num_experts_per_tok", fmt::format("at most {} experts", *experts));
  Json moe{{"experts", *experts}, {"top_k", top_k}, {"ffn_hidden", inner}};
  const auto shared = config.integer("shared_expert_intermediate_size", 0);
  const auto count = config.integer("n_shared_experts", 0);
  if (shared) moe["shared_ffn_hidden"] = *shared;
  if (count) moe["shared_ffn_hidden"] = *count * inner;
  if (const auto dense = config.integer("first_k_dense_replace", 0)) moe["dense_blocks"] = *dense;
  if (const auto nodes = config.integer("topk_group")) moe["nodes_per_token"] = *nodes;
  model["moe"] = moe;
}

void set_encoder(ForeignConfig& config, const Family& family, Json& model) {
  if (std::string(family.type) != "t5") return;
  const auto encoder = model["blocks"].get<std::int64_t>();
  const std::int64_t decoder = config.integer("num_decoder_layers").value_or(encoder);
  model["blocks"] = encoder + decoder;
  model["encoder_blocks"] = encoder;
}

void set_ends(ForeignConfig& config, const Family& family, Json& model) {
  const std::string type = family.type;
  if (type == "bert") {
    model["embedding"] = {{"token_types", config.integer("type_vocab_size", 0).value_or(2)}, {"norm", true}};
    model["head"] = {{"norm", false}, {"transform", true}, {"bias", true}, {"pooler", true}};
  }
  if (type != "vit") return;
  const std::int64_t patch = config.integer("patch_size").value_or(16);
  const std::int64_t image = config.integer("image_size").value_or(224);
  const std::int64_t channels = config.integer("num_channels").value_or(3);
  if (image % patch != 0) config.refuse("patch_size", fmt::format("a divisor of image_size ({})", image));
  model["embedding"] = {{"patch_inputs", patch * patch * channels}, {"extra_tokens", 1}};
  model["head"] = {{"bias", true}, {"first_token", true}};
  model["sequence_length"] = (image / patch) * (image / patch) + 1;
  if (!model.contains("vocabulary")) model["vocabulary"] = config.integer("num_labels").value_or(1000);
}

/// YaRN counts where its concentration factor does; latent attention rotates in kernels of its own.
std::string positions_of(ForeignConfig& config, const Family& family) {
  const std::string scaling = config.text("rope_scaling.rope_type rope_scaling.type").value_or("");
  const double factor = config.number("rope_scaling.factor", 0, 1e9).value_or(1);
  const auto concentration = config.number("rope_scaling.attention_factor", 0, 1e9);
  const bool scales = concentration ? *concentration != 1 : factor > 1;
  const bool latent = std::string_view(family.type).starts_with("deepseek");
  config.ignore(
      "rope_scaling.beta_fast rope_scaling.beta_slow rope_scaling.truncate rope_scaling.low_freq_factor "
      "rope_scaling.high_freq_factor rope_scaling.original_max_position_embeddings rope_scaling.mscale "
      "rope_scaling.mscale_all_dim rope_scaling.short_factor rope_scaling.long_factor");
  return scaling == "yarn" && scales && !latent ? "yarn" : family.positions;
}

std::string name_of(const std::string& file, const char* type) {
  std::string name = file.substr(file.find_last_of('/') == std::string::npos ? 0 : file.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  if (dot != std::string::npos) name.resize(dot);
  return name.empty() || name == "config" ? type : name;
}

// What models are trained at for most of their tokens, whatever their positions reach to later on.
constexpr std::int64_t usual_tokens = 8192;

}  // namespace

Imported import_huggingface(std::string_view text, const std::string& file, const ImportRequest& request) {
  ForeignConfig config = foreign_from_json(text, file);
  const Family& family = family_of(config);
  Draft draft;
  Json model;
  model["name"] = name_of(file, family.type);
  model["source"] = "Hugging Face config.json";
  const std::int64_t hidden = needed(config, "hidden_size n_embd d_model");
  model["hidden"] = hidden;
  model["blocks"] = needed(config, "num_hidden_layers n_layer num_layers");
  if (const auto words = config.integer("vocab_size")) model["vocabulary"] = *words;
  const std::int64_t positions = config.integer("max_position_embeddings n_positions").value_or(512);
  model["sequence_length"] = positions;
  model["attention"] = attention_of(config, family, hidden);
  bool gated = family.gated;
  const std::string activation = activation_of(config, gated);
  const std::int64_t ffn = config.integer("intermediate_size n_inner d_ff ffn_dim").value_or(4 * hidden);
  const bool bias = config.flag("mlp_bias").value_or(family.bias);
  model["mlp"] = {{"ffn_hidden", ffn}, {"gated", gated}, {"activation", activation}, {"bias", bias}};
  if (const auto clamp = config.number("swiglu_limit", 0, 1e6)) model["mlp"]["clamp"] = *clamp;
  set_experts(config, model);
  set_encoder(config, family, model);
  set_ends(config, family, model);
  if (const auto modules = config.integer("num_nextn_predict_layers", 0)) model["prediction_modules"] = *modules;
  if (family.post_norms) model["post_norms"] = true;
  model["norm"] = family.norm;
  model["positions"] = positions_of(config, family);
  model["tied_embeddings"] = config.flag("tie_word_embeddings").value_or(family.tied);
  const double residual = config.number("resid_pdrop hidden_dropout_prob dropout_rate", 0, 0.999).value_or(0);
  model["dropout"] = std::max(residual, config.number("attention_dropout", 0, 0.999).value_or(0));
  config.ignore(without_effect);
  draft.json["name"] = model["name"];
  draft.json["description"] = "Imported from a Hugging Face configuration.";
  draft.json["model"] = model;
  set_degrees(draft, config, {}, request.gpus == 0 ? request.gpus_per_node : request.gpus, request);
  draft.json["batch"] = {{"micro", 1}, {"global", draft.json["parallel"]["data"]}};
  draft.assumed.emplace_back("parallel and batch: data parallelism with one sequence per GPU; the file has no run");
  const std::int64_t tokens = std::min(positions, usual_tokens);
  draft.json["sequence_length"] = tokens;
  draft.assumed.push_back("sequence_length: " + std::to_string(tokens) +
                          " tokens; the file says only how far positions reach (" + std::to_string(positions) + ")");
  return finished(draft, config);
}

}  // namespace stagecraft

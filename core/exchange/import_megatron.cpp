// Megatron-LM: its command line (megatron/training/arguments.py), or a YAML with the same names. Values that are not
// given are Megatron-LM's defaults.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "exchange/draft.hpp"
#include "exchange/megatron_layout.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
using Draft = ScenarioDraft<Json>;

constexpr const char* without_effect =
    "lr min_lr lr_decay_style lr_decay_iters lr_warmup_iters lr_warmup_fraction lr_decay_samples lr_warmup_samples "
    "weight_decay adam_beta1 adam_beta2 adam_eps clip_grad init_method_std seed train_iters train_samples log_interval "
    "save_interval eval_interval eval_iters save load data_path split vocab_file merge_file tokenizer_type "
    "tokenizer_model tensorboard_dir wandb_project wandb_exp_name log_throughput distributed_backend nproc_per_node "
    "nnodes node_rank master_addr master_port use_mcore_models no_load_optim no_load_rng exit_interval num_workers "
    "ckpt_format dist_ckpt_strictly rotary_base rotary_percent norm_epsilon moe_router_load_balancing_type "
    "moe_aux_loss_coeff moe_z_loss_coeff moe_router_score_function moe_router_enable_expert_bias "
    "moe_router_bias_update_rate moe_router_topk_scaling_factor moe_router_dtype moe_permute_fusion moe_grouped_gemm "
    "mtp_loss_scaling_factor attention_softmax_in_fp32 disable_bias_linear rdzv_id rdzv_backend "
    "rdzv_endpoint manual_gc manual_gc_interval log_params_norm log_num_zeros_in_grad "
    "no_create_attention_mask_in_dataloader";

bool on(ForeignConfig& config, const char* key) {
  return config.flag(key).value_or(false);
}

std::int64_t needed(ForeignConfig& config, const char* key) {
  const auto value = config.integer(key);
  if (!value) config.refuse(key, "an integer");
  return *value;
}

Json attention_of(ForeignConfig& config, std::int64_t hidden, bool bias) {
  Json attention;
  const std::int64_t heads = needed(config, "num_attention_heads");
  const auto head_dim = config.integer("kv_channels");
  if (!head_dim && hidden % heads != 0) {
    config.refuse("num_attention_heads", fmt::format("a divisor of hidden_size ({})", hidden));
  }
  attention["heads"] = heads;
  const bool grouped = on(config, "group_query_attention");
  const auto groups = config.integer("num_query_groups");
  if (grouped) {
    const std::int64_t kv_heads = groups.value_or(1);
    if (heads % kv_heads != 0) {
      config.refuse("num_query_groups", fmt::format("a divisor of num_attention_heads ({})", heads));
    }
    attention["kv_heads"] = kv_heads;
  }
  if (head_dim) attention["head_dim"] = *head_dim;
  attention["bias"] = bias || on(config, "add_qkv_bias");
  if (attention["bias"].get<bool>() && !bias) attention["output_bias"] = false;
  if (on(config, "qk_layernorm")) attention["qk_norm"] = true;
  if (on(config, "multi_latent_attention")) {
    attention["head_dim"] = config.integer("qk_head_dim").value_or(128);
    attention.erase("kv_heads");
    attention.erase("qk_norm");  // the norms of the latents, which are always there
    attention["latent"] = {{"query_rank", config.integer("q_lora_rank", 0).value_or(0)},
                           {"kv_rank", config.integer("kv_lora_rank").value_or(32)},
                           {"rope_dim", config.integer("qk_pos_emb_head_dim").value_or(64)},
                           {"value_dim", config.integer("v_head_dim").value_or(128)}};
  }
  return attention;
}

void set_positions(ForeignConfig& config, Json& model) {
  const bool by_flag = on(config, "use_rotary_position_embeddings");
  const std::string type = config.text("position_embedding_type").value_or("learned_absolute");
  const auto buckets = config.integer("relative_attention_num_buckets");
  if (by_flag || type == "rope" || type == "mrope") {
    model["positions"] = "rotary";
  } else if (type == "yarn" || type == "none") {
    model["positions"] = type;
  } else if (type == "relative") {
    model["positions"] = "relative";
    model["attention"]["relative_buckets"] = buckets.value_or(32);
  } else if (type == "learned_absolute") {
    model["positions"] = "learned";
  } else {
    const std::vector<std::string> known{"learned_absolute", "rope", "mrope", "yarn", "relative", "none"};
    config.refuse("position_embedding_type", fmt::format("{}", fmt::join(known, ", ")), nearest_word(type, known));
  }
}

void set_experts(ForeignConfig& config, Json& model) {
  const auto experts = config.integer("num_experts");
  if (!experts) return;
  Json moe{{"experts", *experts}};
  moe["top_k"] = config.integer("moe_router_topk").value_or(2);
  if (moe["top_k"].get<std::int64_t>() > *experts) {
    config.refuse("moe_router_topk", fmt::format("at most num_experts ({})", *experts));
  }
  moe["ffn_hidden"] = config.integer("moe_ffn_hidden_size").value_or(model["mlp"]["ffn_hidden"].get<std::int64_t>());
  if (const auto shared = config.integer("moe_shared_expert_intermediate_size", 0)) moe["shared_ffn_hidden"] = *shared;
  if (const auto factor = config.number("moe_expert_capacity_factor", 0, 1000)) moe["capacity_factor"] = *factor;
  if (const auto nodes = config.integer("moe_router_group_topk")) moe["nodes_per_token"] = *nodes;
  config.ignore("moe_router_num_groups");
  if (const auto layers = config.text("moe_layer_freq")) {
    // "([0]*3+[1]*58)": the first blocks are dense; a number: every so many blocks.
    if (const auto dense = leading_number(*layers, "([0]*"); dense && *dense > 0) {
      moe["dense_blocks"] = *dense;
    } else {
      moe["every"] = config.integer("moe_layer_freq", 1, 4096).value_or(1);
    }
  }
  model["moe"] = moe;
}

Json model_of(ForeignConfig& config) {
  Json model;
  const std::int64_t hidden = needed(config, "hidden_size");
  const bool bias = !on(config, "disable_bias_linear");
  const bool gated = on(config, "swiglu") || on(config, "quick_geglu");
  model["name"] = "megatron-lm";
  model["source"] = "Megatron-LM arguments";
  model["hidden"] = hidden;
  model["blocks"] = needed(config, "num_layers");
  const auto words = config.integer("vocab_size padded_vocab_size");
  model["vocabulary"] = words.value_or(50257);
  const auto sequence = config.integer("seq_length");
  model["sequence_length"] = config.integer("max_position_embeddings").value_or(sequence.value_or(2048));
  model["attention"] = attention_of(config, hidden, bias);
  const std::int64_t wide = gated ? (8 * hidden / 3 + 63) / 64 * 64 : 4 * hidden;
  const bool squared = on(config, "squared_relu");
  model["mlp"] = {{"ffn_hidden", config.integer("ffn_hidden_size").value_or(wide)},
                  {"gated", gated},
                  {"activation", gated     ? "silu"
                                 : squared ? "relu"
                                           : "gelu"},
                  {"bias", bias}};
  if (const auto clamp = config.number("activation_func_clamp_value", 0, 1e6)) model["mlp"]["clamp"] = *clamp;
  config.ignore("glu_linear_offset");
  set_experts(config, model);
  if (const auto modules = config.integer("mtp_num_layers", 0, 16)) model["prediction_modules"] = *modules;
  const std::string norm = config.text("normalization").value_or("LayerNorm");
  if (norm != "LayerNorm" && norm != "RMSNorm") config.refuse("normalization", "LayerNorm or RMSNorm", "RMSNorm");
  model["norm"] = norm == "RMSNorm" ? "rms_norm" : "layer_norm";
  set_positions(config, model);
  model["tied_embeddings"] = !on(config, "untie_embeddings_and_output_weights");
  model["dropout"] = std::max(config.number("hidden_dropout", 0, 0.999).value_or(0.1),
                              config.number("attention_dropout", 0, 0.999).value_or(0.1));
  return model;
}

std::int64_t virtual_stages_of(ForeignConfig& config, std::int64_t blocks, std::int64_t pipeline) {
  const auto chunks = config.integer("num_virtual_stages_per_pipeline_rank", 1, 1024);
  const auto layers = config.integer("num_layers_per_virtual_pipeline_stage", 1, 4096);
  if (chunks && layers) {
    config.refuse("num_layers_per_virtual_pipeline_stage", "nothing: num_virtual_stages_per_pipeline_rank is given");
  }
  if (layers && blocks % (pipeline * *layers) != 0) {
    config.refuse("num_layers_per_virtual_pipeline_stage",
                  fmt::format("a divisor of num_layers over the pipeline ({})", blocks / pipeline));
  }
  return layers ? blocks / (pipeline * *layers) : chunks.value_or(1);
}

void set_context_method(ForeignConfig& config, Json& parallel) {
  const std::string method = config.text("cp_comm_type").value_or("p2p");
  const char* word = method == "p2p"          ? "ring"
                     : method == "a2a"        ? "ulysses"
                     : method == "all_gather" ? "all_gather"
                     : method == "a2a+p2p"    ? "combined"
                                              : nullptr;
  if (word == nullptr) config.refuse("cp_comm_type", "p2p, a2a, all_gather or a2a+p2p", "p2p");
  if (parallel["context"].get<std::int64_t>() == 1) return;
  parallel["context_method"] = word;
  const auto sizes = config.text("hierarchical_context_parallel_sizes");
  if (method != "a2a+p2p") return;
  const auto heads = sizes ? leading_number(*sizes, "") : std::nullopt;
  if (!heads || *heads < 1 || *heads > 1024) {
    config.refuse("hierarchical_context_parallel_sizes", "the ranks that exchange heads, then those of the ring");
  }
  parallel["ulysses"] = *heads;
}

void set_batch(ForeignConfig& config, Draft& draft) {
  const std::int64_t data = draft.json["parallel"]["data"].get<std::int64_t>();
  const std::int64_t micro = config.integer("micro_batch_size", 1, 1 << 20).value_or(1);
  const std::int64_t global = config.integer("global_batch_size", 1, 1 << 24).value_or(micro * data);
  if (global % (micro * data) != 0) {
    config.refuse("global_batch_size", fmt::format("a multiple of micro_batch_size {} x {} data ranks", micro, data),
                  fmt::format("{}", std::max<std::int64_t>(1, global / (micro * data)) * micro * data));
  }
  draft.json["batch"] = {{"global", global}, {"micro", micro}};
  if (const auto text = config.text("rampup_batch_size")) {
    std::istringstream numbers(*text);
    std::int64_t start = 0, increment = 0, samples = 0;
    if (!(numbers >> start >> increment >> samples) || start < 1 || increment < 1 || samples < 1) {
      config.refuse("rampup_batch_size", "the first batch, its increment and the samples of the ramp", "32 32 1000000");
    }
    draft.json["batch"]["ramp_up"] = {{"start", start}, {"increment", increment}, {"samples", samples}};
  }
}

void set_recompute_modules(ForeignConfig& config, Draft& draft) {
  constexpr std::array<std::pair<const char*, const char*>, 6> words{{{"core_attn", "core_attention"},
                                                                      {"layernorm", "norms"},
                                                                      {"moe_act", "activation"},
                                                                      {"mlp", "mlp"},
                                                                      {"moe", "mlp"},
                                                                      {"mla_up_proj", "latent_up_projection"}}};
  const auto listed = config.text("recompute_modules");
  if (!listed) return;
  std::istringstream text(*listed);
  const std::vector<std::string> named{std::istream_iterator<std::string>(text), {}};
  const bool experts_too = std::find(named.begin(), named.end(), "moe") != named.end();
  const bool has_experts = draft.json["model"].contains("moe");
  Json modules = Json::array();
  for (const std::string& word : named) {
    const auto* const known =
        std::find_if(words.begin(), words.end(), [&](const auto& row) { return word == row.first; });
    if (known == words.end()) {
      config.refuse("recompute_modules", "core_attn, layernorm, moe_act, mlp, moe and mla_up_proj, blanks between them",
                    "core_attn");
    }
    if (word == "mlp" && has_experts && !experts_too) {
      draft.assumed.emplace_back("recompute_modules: mlp is left out, for it means the dense MLPs beside the experts");
      continue;
    }
    if (std::find(modules.begin(), modules.end(), Json(known->second)) == modules.end())
      modules.push_back(known->second);
  }
  draft.json["recompute"] = modules.empty() ? "none" : "selective";
  if (!modules.empty()) draft.json["recompute_modules"] = std::move(modules);
}

void set_recompute(ForeignConfig& config, Draft& draft) {
  Json& scenario = draft.json;
  const auto granularity = config.text("recompute_granularity");
  const bool old_full = on(config, "recompute_activations");
  const auto method = config.text("recompute_method");
  const auto layers = config.integer("recompute_num_layers", 1, 4096);
  if (granularity && *granularity != "full" && *granularity != "selective") {
    config.refuse("recompute_granularity", "full or selective", "selective");
  }
  if (granularity && *granularity == "full") {
    scenario["recompute"] = "full";
    if (!method || (*method != "uniform" && *method != "block")) {
      config.refuse("recompute_method", "uniform or block: full recompute needs one", "uniform");
    }
    if (*method == "block") {
      scenario["recompute_scope"] = "first_blocks";
      scenario["recompute_blocks"] = layers.value_or(1);
    } else if (layers.value_or(1) > 1) {
      scenario["recompute_scope"] = "groups";
      scenario["recompute_blocks"] = *layers;
    }
  } else if (granularity || old_full) {
    scenario["recompute"] = "selective";
    set_recompute_modules(config, draft);
  }
}

void set_offload(ForeignConfig& config, Json& scenario) {
  const auto blocks = config.integer("cpu_offloading_num_layers", 0, 4096);
  if (blocks.value_or(0) > 0) scenario["offload"] = {{"activations", "host"}, {"activation_blocks", *blocks}};
}

void set_numbers(ForeignConfig& config, Json& scenario) {
  const bool fp16 = on(config, "fp16"), bf16 = on(config, "bf16");
  if (fp16 && bf16) config.refuse("fp16", "not together with bf16");
  const auto fp8 = config.text("fp8_format fp8");
  const auto recipe = config.text("fp8_recipe");
  scenario["precision"] = fp8 ? "fp8_mixed" : bf16 ? "bf16_mixed" : fp16 ? "fp16_mixed" : "fp32";
  if (fp8 && recipe) {
    scenario["fp8_scaling"] = *recipe == "blockwise" || *recipe == "mxfp8" ? "per_block"
                              : *recipe == "tensorwise"                    ? "current"
                                                                           : "per_tensor";
  }
  const bool wide = on(config, "accumulate_allreduce_grads_in_fp32");
  if (fp16 && wide) scenario["fp32_gradients"] = true;
  if (on(config, "use_flash_attn")) scenario["attention_kernel"] = "flash_2";
  const std::string backend = config.text("attention_backend").value_or("auto");
  if (backend == "unfused") scenario["attention_kernel"] = "unfused";
  if (backend == "local") scenario["attention_kernel"] = "fused_softmax";  // Megatron-LM's own
  if (backend != "auto" && backend != "flash" && backend != "fused" && backend != "unfused" && backend != "local") {
    config.refuse("attention_backend", "auto, flash, fused, unfused or local", "auto");
  }
  const std::string layers = config.text("transformer_impl").value_or("transformer_engine");
  if (layers != "local" && layers != "transformer_engine") {
    config.refuse("transformer_impl", "transformer_engine or local", "transformer_engine");
  }
  scenario["framework"] = layers == "local" ? "megatron" : "transformer_engine";
  if (on(config, "grad_reduce_in_bf16")) scenario["fp32_gradients"] = false;
  if (on(config, "cross_entropy_loss_fusion")) scenario["loss_kernel"] = "fused";
}

void set_optimizer(ForeignConfig& config, Draft& draft) {
  const std::string name = config.text("optimizer").value_or("adam");
  draft.json["optimizer"] = name == "sgd" ? "sgd" : "adam";
  if (name != "sgd" && name != "adam") draft.assumed.push_back("optimizer: " + name + " is rehearsed as adam");
}

void set_layout(ForeignConfig& config, Json& scenario, std::int64_t pipeline) {
  const auto text = config.text("pipeline_model_parallel_layout");
  if (!text) return;
  for (const char* other : {"num_virtual_stages_per_pipeline_rank", "num_layers_per_virtual_pipeline_stage"}) {
    if (config.has(other)) config.refuse("pipeline_model_parallel_layout", fmt::format("nothing: {} is given", other));
  }
  const auto blocks = blocks_of_layout(*text);
  if (!blocks) {
    config.refuse("pipeline_model_parallel_layout",
                  "a layout of t, m and | between one E, the first, and one L, the last", "\"Et*2|t*2L\"");
  }
  const auto stages = static_cast<std::int64_t>(blocks->size());
  const Json& model = scenario["model"];
  const std::int64_t layers = model["blocks"].get<std::int64_t>() + model.value("prediction_modules", std::int64_t{0});
  if (stages % pipeline != 0 || std::accumulate(blocks->begin(), blocks->end(), std::int64_t{0}) != layers) {
    config.refuse("pipeline_model_parallel_layout",
                  fmt::format("a multiple of {} stages that hold {} blocks in all", pipeline, layers));
  }
  scenario["parallel"]["virtual_stages"] = stages / pipeline;
  scenario["parallel"]["partition"] = *blocks;
}

void set_sharding(ForeignConfig& config, Json& scenario) {
  const auto strategy = config.text("data_parallel_sharding_strategy");
  const bool sharded = on(config, "use_megatron_fsdp") || on(config, "use_custom_fsdp");
  scenario["zero_stage"] = on(config, "use_distributed_optimizer") ? 1 : 0;
  if (!sharded) return;
  const std::string words = strategy.value_or("optim_grads_params");
  constexpr std::array<const char*, 4> stages{"no_shard", "optim", "optim_grads", "optim_grads_params"};
  const auto* const known = std::find(stages.begin(), stages.end(), words);
  if (known == stages.end()) {
    config.refuse("data_parallel_sharding_strategy", "no_shard, optim, optim_grads or optim_grads_params",
                  "optim_grads_params");
  }
  scenario["zero_stage"] = known - stages.begin();
}

void set_experts_run(ForeignConfig& config, Draft& draft) {
  Json& parallel = draft.json["parallel"];
  const std::string dispatcher = config.text("moe_token_dispatcher_type").value_or("alltoall");
  if (dispatcher != "alltoall" && dispatcher != "flex" && dispatcher != "allgather") {
    config.refuse("moe_token_dispatcher_type", "alltoall, flex or allgather", "alltoall");
  }
  const bool deep = on(config, "moe_enable_deepep");
  if (deep && dispatcher != "flex" && config.text("moe_token_dispatcher_type")) {
    config.refuse("moe_enable_deepep", "moe_token_dispatcher_type flex", "flex");
  }
  if (dispatcher == "flex" || deep) draft.json["experts"]["dispatcher"] = "deduplicated";
  if (dispatcher == "allgather")
    draft.assumed.emplace_back("moe_token_dispatcher_type: allgather is timed as alltoall");
  for (const char* word : {"moe_router_padding_for_fp8", "moe_router_padding_for_quantization"}) {
    if (on(config, word)) draft.json["experts"]["router_padding"] = true;
  }
  const auto expert = config.integer("expert_model_parallel_size", 1, 1 << 20);
  const auto share = config.integer("expert_tensor_parallel_size", 1, 1024);
  if (share) parallel["expert_tensor"] = *share;
  if (!expert) return;
  parallel["expert"] = *expert;
  const auto experts = config.integer("num_experts");
  const std::int64_t ranks = parallel["tensor"].get<std::int64_t>() * parallel["context"].get<std::int64_t>() *
                             parallel["data"].get<std::int64_t>() /
                             std::max<std::int64_t>(1, share.value_or(parallel["tensor"].get<std::int64_t>()));
  if (!experts && *expert > 1) config.refuse("expert_model_parallel_size", "num_experts beside it, or 1", "1");
  if (ranks % *expert == 0 && (!experts || *experts % *expert == 0)) return;
  config.refuse(
      "expert_model_parallel_size",
      fmt::format("a divisor of num_experts ({}) and of the {} ranks of a pipeline rank", experts.value_or(0), ranks));
}

}  // namespace

Imported import_megatron(std::string_view text, const std::string& file, const ImportRequest& request) {
  const bool yaml = text.find("--") == std::string_view::npos;
  ForeignConfig config = yaml ? foreign_from_yaml(text, file) : foreign_from_arguments(text, file);
  if (yaml) {  // sections of the example YAML of Megatron-LM carry the same names
    ForeignConfig flat(file);
    for (const std::string& line : config.left()) {
      const std::size_t equals = line.find(" = ");
      const std::string key = line.substr(0, equals);
      const std::size_t dot = key.find_last_of('.');
      const std::string value = line.substr(equals + 3);
      if (!value.empty())
        flat.set(dot == std::string::npos ? key : key.substr(dot + 1), {ForeignKind::string, value, 0});
    }
    config = flat;
  }
  Draft draft;
  const auto per_node = config.integer("nproc_per_node"), nodes = config.integer("nnodes");
  const std::int64_t launched = per_node ? *per_node * nodes.value_or(1) : 0;
  std::int64_t gpus = config.integer("world_size", 1, 1 << 24).value_or(launched);
  if (gpus == 0) gpus = request.gpus;
  draft.json["name"] = "megatron-lm";
  draft.json["description"] = "Imported from Megatron-LM arguments.";
  draft.json["model"] = model_of(config);
  ForeignDegrees degrees;
  degrees.tensor = config.integer("tensor_model_parallel_size", 1, 1024).value_or(1);
  degrees.pipeline = config.integer("pipeline_model_parallel_size", 1, 4096).value_or(1);
  degrees.context = config.integer("context_parallel_size", 1, 1024).value_or(1);
  degrees.tensor_key = "tensor_model_parallel_size";
  degrees.pipeline_key = "pipeline_model_parallel_size";
  degrees.context_key = "context_parallel_size";
  const Json& attention = draft.json["model"]["attention"];
  check_heads(config, attention["heads"].get<std::int64_t>(), "num_attention_heads", degrees.tensor);
  if (attention.contains("kv_heads")) {
    check_heads(config, attention["kv_heads"].get<std::int64_t>(), "num_query_groups", degrees.tensor);
  }
  set_degrees(draft, config, degrees, gpus, request);
  Json& parallel = draft.json["parallel"];
  const auto blocks = draft.json["model"]["blocks"].get<std::int64_t>();
  parallel["virtual_stages"] = virtual_stages_of(config, blocks, degrees.pipeline);
  set_layout(config, draft.json, degrees.pipeline);
  parallel["sequence_parallel"] = on(config, "sequence_parallel");
  set_experts_run(config, draft);
  if (on(config, "use_tp_pp_dp_mapping")) parallel["placement"] = "tensor-context-pipeline-data";
  set_context_method(config, parallel);
  set_batch(config, draft);
  if (const auto sequence = config.integer("seq_length")) draft.json["sequence_length"] = *sequence;
  set_numbers(config, draft.json);
  set_optimizer(config, draft);
  set_recompute(config, draft);
  set_offload(config, draft.json);
  set_sharding(config, draft.json);
  Json overlap;
  overlap["gradient_reduce"] = on(config, "overlap_grad_reduce");
  overlap["parameter_gather"] = on(config, "overlap_param_gather");
  overlap["tensor"] = on(config, "tp_comm_overlap");
  if (on(config, "no_overlap_p2p_communication")) overlap["pipeline"] = false;
  if (const auto numbers = config.integer("ddp_bucket_size", 1, std::int64_t{1} << 40)) {
    const bool wide = draft.json.value("fp32_gradients", draft.json["precision"] != "fp16_mixed");
    draft.json["gradient_bucket"] = fmt::format("{} B", *numbers * (wide ? 4 : 2));
  }
  if (on(config, "overlap_moe_expert_parallel_comm")) {
    overlap["expert"] = true;
    if (on(config, "delay_wgrad_compute")) overlap["delay_weight_grad"] = true;
  }
  draft.json["overlap"] = overlap;
  if (on(config, "enable_cuda_graph") || config.text("cuda_graph_impl").value_or("none") != "none") {
    draft.json["cuda_graphs"] = true;
  }
  draft.json["gradient_accumulation_fusion"] = !on(config, "no_gradient_accumulation_fusion");
  config.ignore(without_effect);
  return finished(draft, config);
}

}  // namespace stagecraft

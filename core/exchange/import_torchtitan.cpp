// torchtitan: the JSON dump of its job configuration, or the TOML of older releases (torchtitan/config/job_config.py).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "exchange/draft.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
using Draft = ScenarioDraft<Json>;

constexpr const char* without_effect =
    "job.dump_folder job.description job.print_args job.use_for_integration_test profiling.enable_profiling "
    "profiling.save_traces_folder profiling.profile_freq profiling.enable_memory_snapshot "
    "profiling.save_memory_snapshot_folder metrics.log_freq metrics.enable_tensorboard metrics.save_tb_folder "
    "metrics.enable_wandb metrics.disable_color_printing model.norm_type model.tokenizer_path model.converters "
    "model.hf_assets_path optimizer.lr optimizer.eps optimizer.fused optimizer.implementation optimizer.beta1 "
    "optimizer.beta2 optimizer.weight_decay lr_scheduler.warmup_steps lr_scheduler.decay_ratio "
    "lr_scheduler.decay_type lr_scheduler.lr_min lr_scheduler.min_lr_factor training.warmup_steps training.max_norm "
    "training.steps training.dataset training.dataset_path training.data_parallel_type training.seed "
    "training.deterministic training.gc_freq checkpoint.enable_checkpoint checkpoint.enable checkpoint.folder "
    "checkpoint.interval checkpoint.interval_type checkpoint.export_dtype checkpoint.async_mode "
    "checkpoint.model_weights_only checkpoint.last_save_model_only comm.init_timeout_seconds "
    "comm.train_timeout_seconds comm.trace_buf_size";

struct Flavor {
  const char* name;    // model.name
  const char* flavor;  // model.flavor
  const char* model;   // of the library
};

constexpr std::array flavors{Flavor{"llama3", "8B", "llama-3-8b"},         Flavor{"llama3", "70B", "llama-3-70b"},
                             Flavor{"llama3", "405B", "llama-3-405b"},     Flavor{"llama2", "7B", "llama-2-7b"},
                             Flavor{"llama2", "13B", "llama-2-13b"},       Flavor{"llama2", "70B", "llama-2-70b"},
                             Flavor{"deepseek_v3", "671B", "deepseek-v3"}, Flavor{"qwen3", "30B-A3B", "qwen3-30b-a3b"}};

std::string model_of(ForeignConfig& config, const ImportRequest& request) {
  const std::string name = config.text("model.name").value_or("llama3");
  const std::string flavor = config.text("model.flavor").value_or("8B");
  if (!request.model.empty()) return request.model;
  for (const Flavor& known : flavors) {
    if (name == known.name && flavor == known.flavor) return known.model;
  }
  std::vector<std::string> names;
  for (const Flavor& known : flavors) names.push_back(fmt::format("{} {}", known.name, known.flavor));
  config.refuse("model.flavor", fmt::format("one of {}, or a model of the library (--model)", fmt::join(names, ", ")));
}

const char* schedule_of(ForeignConfig& config, std::int64_t pipeline) {
  const std::string word =
      config.text("parallelism.pipeline_parallel_schedule experimental.pipeline_parallel_schedule").value_or("1F1B");
  struct Known {
    const char* theirs;
    const char* ours;
  };
  constexpr std::array known{Known{"1F1B", "1f1b"},
                             Known{"GPipe", "gpipe"},
                             Known{"Interleaved1F1B", "interleaved-1f1b"},
                             Known{"InterleavedZeroBubble", "interleaved-zb"},
                             Known{"ZBVZeroBubble", "zbv"},
                             Known{"LoopedBFS", "looped-bfs"}};
  for (const Known& one : known) {
    if (word == one.theirs) return one.ours;
  }
  if (pipeline == 1) return "1f1b";
  std::vector<std::string> words;
  for (const Known& one : known) words.emplace_back(one.theirs);
  config.refuse("parallelism.pipeline_parallel_schedule", fmt::format("one of {}", fmt::join(words, ", ")),
                nearest_word(word, words));
}

void set_batch(ForeignConfig& config, Draft& draft, std::int64_t data, std::int64_t pipeline) {
  const std::int64_t local = config.integer("training.local_batch_size training.batch_size", 1, 1 << 20).value_or(8);
  const std::int64_t global = config.integer("training.global_batch_size", -1, 1 << 24).value_or(-1);
  const std::int64_t all = global > 0 ? global : local * data;
  if (all % (local * data) != 0) {
    config.refuse("training.global_batch_size",
                  fmt::format("a multiple of training.local_batch_size {} x {} data ranks", local, data),
                  fmt::format("{}", local * data));
  }
  std::int64_t micro = local;
  if (pipeline > 1) {
    micro = config.integer("parallelism.pipeline_parallel_microbatch_size", 1, 1 << 20).value_or(1);
    if (local % micro != 0) {
      config.refuse("parallelism.pipeline_parallel_microbatch_size",
                    fmt::format("a divisor of training.local_batch_size ({})", local));
    }
  }
  draft.json["batch"] = {{"global", all}, {"micro", micro}};
  if (pipeline > 1)
    draft.json["schedule"]["flushes"] = all / (local * data);  // each accumulation step drains (train.py)
}

void set_recompute(ForeignConfig& config, Json& scenario) {
  const std::string mode = config.text("activation_checkpoint.mode").value_or("selective");
  const std::string option = config.text("activation_checkpoint.selective_ac_option").value_or("2");
  if (mode == "full") {
    scenario["recompute"] = "full";
  } else if (mode == "selective" && option == "op") {
    scenario["recompute"] = "per_op";
  } else if (mode == "selective") {
    const auto every = config.integer("activation_checkpoint.selective_ac_option", 1, 4096);
    scenario["recompute"] = "full";
    scenario["recompute_scope"] = "every_kth";
    scenario["recompute_blocks"] = every.value_or(2);
  } else if (mode != "none") {
    config.refuse("activation_checkpoint.mode", "none, selective or full", "selective");
  }
}

}  // namespace

Imported import_torchtitan(std::string_view text, const std::string& file, const ImportRequest& request) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  ForeignConfig config = json ? foreign_from_json(text, file) : foreign_from_toml(text, file);
  Draft draft;
  draft.json["name"] = "torchtitan";
  draft.json["description"] = "Imported from a torchtitan configuration.";
  draft.json["model"] = model_of(config, request);
  ForeignDegrees degrees;
  degrees.tensor =
      config.integer("parallelism.tensor_parallel_degree training.tensor_parallel_degree", 1, 1024).value_or(1);
  degrees.pipeline =
      config.integer("parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree", 1, 4096).value_or(1);
  degrees.context =
      config.integer("parallelism.context_parallel_degree experimental.context_parallel_degree", 1, 1024).value_or(1);
  const std::int64_t shard =
      config.integer("parallelism.data_parallel_shard_degree training.data_parallel_shard_degree", -1, 1 << 20)
          .value_or(-1);
  const std::int64_t replicas =
      config.integer("parallelism.data_parallel_replicate_degree training.data_parallel_replicate_degree", 1, 1 << 20)
          .value_or(1);
  degrees.data = shard > 0 ? shard * replicas : 0;
  degrees.tensor_key = "parallelism.tensor_parallel_degree";
  degrees.pipeline_key = "parallelism.pipeline_parallel_degree";
  degrees.context_key = "parallelism.context_parallel_degree";
  degrees.data_key = "parallelism.data_parallel_shard_degree";
  std::int64_t gpus = request.gpus;
  if (gpus == 0 && degrees.data == 0) {
    gpus = std::max(request.gpus_per_node, degrees.tensor * degrees.pipeline * degrees.context * replicas);
    draft.assumed.push_back(fmt::format("{} GPUs; the shard degree takes what is left of them", gpus));
  }
  set_degrees(draft, config, degrees, gpus, request);
  Json& parallel = draft.json["parallel"];
  const std::int64_t data = parallel["data"].get<std::int64_t>();
  if (data % replicas != 0) {
    config.refuse("parallelism.data_parallel_replicate_degree", fmt::format("a divisor of {} data ranks", data));
  }
  parallel["sequence_parallel"] =
      degrees.tensor > 1 && config.flag("parallelism.enable_sequence_parallel").value_or(true);
  if (const auto expert = config.integer("parallelism.expert_parallel_degree", 1, 1 << 20))
    parallel["expert"] = *expert;
  if (const auto share = config.integer("parallelism.expert_tensor_parallel_degree", 1, 1024)) {
    parallel["expert_tensor"] = *share;
  }
  if (degrees.context > 1) {
    const std::string method =
        config.text("parallelism.context_parallel_rotate_method experimental.context_parallel_rotate_method")
            .value_or("allgather");
    parallel["context_method"] = method == "alltoall" ? "ring" : "all_gather";
  }
  const char* schedule = schedule_of(config, degrees.pipeline);
  if (degrees.pipeline > 1) {
    const std::string word = schedule;
    const bool chunks = word == "interleaved-1f1b" || word == "interleaved-zb" || word == "zbv" || word == "looped-bfs";
    if (chunks) parallel["virtual_stages"] = 2;
    draft.json["schedule"]["name"] = schedule;
  }
  const bool sharded = data * degrees.context > 1;
  draft.json["zero_stage"] = sharded && shard != 1 ? 3 : 0;
  draft.json["framework"] = "fsdp";
  if (sharded && shard != 1) {
    Json sharding{{"unit", "block"}};
    if (replicas > 1) sharding["group"] = data / replicas * degrees.context;
    const std::string reshard =
        config.text("parallelism.fsdp_reshard_after_forward training.fsdp_reshard_after_forward").value_or("default");
    const bool keeps = reshard == "never" || (reshard == "default" && degrees.pipeline > 1);
    if (keeps) sharding["reshard_after_forward"] = false;
    draft.json["sharding"] = sharding;
    draft.json["overlap"] = {{"gradient_reduce", true}, {"parameter_gather", true}};
  }
  set_batch(config, draft, data, degrees.pipeline);
  if (const auto sequence = config.integer("training.seq_len", 1, 1 << 24)) draft.json["sequence_length"] = *sequence;
  const bool fp8 = config.text("model.converters").value_or("").find("float8") != std::string::npos ||
                   config.flag("float8.enable_float8_linear").value_or(false) || config.has("float8.recipe_name");
  draft.json["precision"] = fp8 ? "fp8_mixed" : "bf16_mixed";
  // Of the recipe with gradients of weights in 16 bits the products by rows are kept.
  const bool by_rows = config.text("float8.recipe_name").value_or("tensorwise").starts_with("rowwise");
  if (fp8) draft.json["fp8_scaling"] = by_rows ? "per_row" : "current";
  config.ignore(
      "float8.enable_fsdp_float8_all_gather float8.precompute_float8_dynamic_scale_for_fsdp "
      "float8.filter_fqns training.mixed_precision_param");
  draft.json["fused_kernels"] = config.flag("compile.enable training.compile").value_or(false);
  set_recompute(config, draft.json);
  config.ignore(without_effect);
  return finished(draft, config);
}

}  // namespace stagecraft

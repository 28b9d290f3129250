// DeepSpeed's ds_config.json (deepspeed.ai/docs/config-json): batch, ZeRO, precision, offload. It names no model.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exchange/draft.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
using Draft = ScenarioDraft<Json>;

constexpr const char* without_effect =
    "steps_per_print wall_clock_breakdown dump_state gradient_clipping prescale_gradients gradient_predivide_factor "
    "optimizer.params.lr optimizer.params.betas optimizer.params.eps optimizer.params.weight_decay "
    "optimizer.params.torch_adam optimizer.params.adam_w_mode scheduler.type scheduler.params.warmup_min_lr "
    "scheduler.params.warmup_max_lr scheduler.params.warmup_num_steps scheduler.params.total_num_steps "
    "fp16.loss_scale fp16.initial_scale_power fp16.loss_scale_window fp16.hysteresis fp16.min_loss_scale "
    "fp16.auto_cast zero_allow_untested_optimizer zero_optimization.sub_group_size "
    "zero_optimization.contiguous_gradients zero_optimization.stage3_max_live_parameters "
    "zero_optimization.stage3_max_reuse_distance zero_optimization.stage3_param_persistence_threshold "
    "zero_optimization.stage3_gather_16bit_weights_on_model_save zero_optimization.round_robin_gradients "
    "zero_optimization.offload_optimizer.pin_memory zero_optimization.offload_param.pin_memory "
    "zero_optimization.offload_optimizer.buffer_count zero_optimization.offload_param.buffer_count "
    "zero_optimization.offload_param.buffer_size zero_optimization.offload_param.max_in_cpu "
    "zero_optimization.offload_optimizer.nvme_path zero_optimization.offload_param.nvme_path "
    "zero_optimization.allgather_partitions zero_optimization.allgather_bucket_size";

const char* home_of(ForeignConfig& config, const char* key) {
  const std::string device = config.text(key).value_or("none");
  if (device == "cpu") return "host";
  if (device == "nvme") return "nvme";
  if (device != "none") config.refuse(key, "cpu, nvme or none", "cpu");
  return "gpu";
}

void set_precision(ForeignConfig& config, Json& scenario) {
  const bool fp16 = config.flag("fp16.enabled").value_or(false);
  const bool bf16 = config.flag("bf16.enabled bfloat16.enabled").value_or(false);
  if (fp16 && bf16) config.refuse("fp16.enabled", "false: bf16.enabled is true", "false");
  scenario["precision"] = bf16 ? "bf16_mixed" : fp16 ? "fp16_mixed" : "fp32";
}

void set_sharding(ForeignConfig& config, Json& scenario, std::int64_t stage) {
  Json sharding;
  if (stage >= 2) sharding["unit"] = "block";
  if (const auto group = config.integer("zero_optimization.zero_hpz_partition_size", 1, 1 << 20); group && *group > 1) {
    sharding["secondary"] = *group;
  }
  if (config.flag("zero_optimization.zero_quantized_weights").value_or(false)) sharding["int8_gather"] = true;
  if (config.flag("zero_optimization.zero_quantized_gradients").value_or(false)) sharding["int4_reduce"] = true;
  if (!config.flag("zero_optimization.reduce_scatter").value_or(true) && stage == 1) sharding["reduce_scatter"] = false;
  if (const auto group = config.integer("zero_optimization.mics_shard_size", -1, 1 << 20); group && *group > 0) {
    sharding["group"] = *group;
  }
  if (const auto bytes = config.number("zero_optimization.stage3_prefetch_bucket_size", 0, 1e12)) {
    sharding["prefetch"] = *bytes > 0 ? 1 : 0;
  }
  if (!sharding.empty()) scenario["sharding"] = sharding;
  Json offload;
  const char* optimizer = home_of(config, "zero_optimization.offload_optimizer.device");
  const char* parameters = home_of(config, "zero_optimization.offload_param.device");
  if (stage < 3 && std::string(parameters) != "gpu") {
    config.refuse("zero_optimization.offload_param.device", "none: parameters are offloaded under stage 3 only",
                  "none");
  }
  if (std::string(optimizer) != "gpu") offload["optimizer"] = optimizer;
  if (std::string(parameters) != "gpu") offload["parameters"] = parameters;
  if (!offload.empty()) scenario["offload"] = offload;
}

/// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x data ranks; any two are enough.
void set_batch(ForeignConfig& config, Draft& draft, std::int64_t data) {
  const auto global = config.integer("train_batch_size", 1, 1 << 24);
  const auto micro = config.integer("train_micro_batch_size_per_gpu", 1, 1 << 20);
  const auto steps = config.integer("gradient_accumulation_steps", 1, 1 << 20);
  const std::int64_t share = micro.value_or(1) * steps.value_or(1) * data;
  if (global && micro && steps && *global != share) {
    config.refuse("train_batch_size",
                  fmt::format("train_micro_batch_size_per_gpu {} x gradient_accumulation_steps {} x {} data ranks = {}",
                              *micro, *steps, data, share),
                  fmt::format("{}", share));
  }
  if (global && *global % share != 0) {
    config.refuse("train_batch_size", fmt::format("a multiple of {}, the sequences of all {} data ranks", share, data));
  }
  if (!global && !micro) config.refuse("train_batch_size", "a batch size, or train_micro_batch_size_per_gpu");
  const std::int64_t all = global.value_or(share);
  const std::int64_t one = micro.value_or(all / (steps.value_or(1) * data));
  draft.json["batch"] = {{"global", all}, {"micro", one}};
}

}  // namespace

Imported import_deepspeed(std::string_view text, const std::string& file, const ImportRequest& request) {
  ForeignConfig config = foreign_from_json(text, file);
  Draft draft;
  const std::string model = request.model.empty() ? "llama-3-8b" : request.model;
  draft.json["name"] = "deepspeed";
  draft.json["description"] = "Imported from a DeepSpeed configuration.";
  draft.json["model"] = model;
  draft.assumed.push_back(fmt::format("model: {}; a DeepSpeed configuration names none", model));
  ForeignDegrees degrees;
  degrees.tensor = config.integer("tensor_parallel.autotp_size", 1, 1024).value_or(1);
  degrees.tensor_key = "tensor_parallel.autotp_size";
  degrees.context = config.integer("sequence_parallel_size", 1, 1024).value_or(1);
  degrees.context_key = "sequence_parallel_size";
  const std::int64_t least = degrees.tensor * degrees.context;
  const std::int64_t gpus = request.gpus > 0 ? request.gpus : std::max(request.gpus_per_node, least);
  if (request.gpus == 0) draft.assumed.push_back(fmt::format("{} GPUs; a DeepSpeed configuration names none", gpus));
  set_degrees(draft, config, degrees, gpus, request);
  if (degrees.context > 1) draft.json["parallel"]["context_method"] = "ulysses";
  set_batch(config, draft, draft.json["parallel"]["data"].get<std::int64_t>());
  set_precision(config, draft.json);
  const std::int64_t stage = config.integer("zero_optimization.stage", 0, 3).value_or(0);
  draft.json["zero_stage"] = stage;
  draft.json["framework"] = "deepspeed";
  set_sharding(config, draft.json, stage);
  const bool overlaps = config.flag("zero_optimization.overlap_comm").value_or(stage == 3);
  draft.json["overlap"] = {{"gradient_reduce", overlaps}, {"parameter_gather", overlaps && stage == 3}};
  if (const auto bucket = config.number("zero_optimization.reduce_bucket_size", 1, 1e11); bucket && overlaps) {
    const double bytes = *bucket * (draft.json["precision"] == "fp32" ? 4 : 2);  // a number of elements
    draft.json["gradient_bucket"] = fmt::format("{:.0f} B", bytes);
  }
  const std::string optimizer = config.text("optimizer.type").value_or("AdamW");
  draft.json["optimizer"] = optimizer == "SGD" ? "sgd" : "adam";
  if (config.flag("activation_checkpointing.partition_activations").value_or(false)) {
    draft.json["recompute"] = "full";
  }
  const auto type = config.text("communication_data_type");
  if (type && (*type == "fp16" || *type == "bf16")) {
    draft.json["gradient_compression"] = "fp16";
  } else if (type && *type == "fp32" && draft.json["precision"] != "fp32") {
    draft.json["gradient_compression"] = "fp32";
  }
  config.ignore(without_effect);
  return finished(draft, config);
}

}  // namespace stagecraft

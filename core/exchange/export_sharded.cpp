// DeepSpeed's ds_config.json and torchtitan's TOML.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "exchange/changed_settings.hpp"
#include "exchange/exchange.hpp"

namespace stagecraft {
namespace {

void leave(Exported& out, bool there, const char* what) {
  if (there) out.left_out.emplace_back(what);
}

const char* device_of(Home home) {
  return home == Home::host ? "cpu" : "nvme";
}

/// nullptr: torchtitan does not know it.
const char* schedule_of(const std::string& name) {
  return name == "gpipe"              ? "GPipe"
         : name == "interleaved-1f1b" ? "Interleaved1F1B"
         : name == "interleaved-zb"   ? "InterleavedZeroBubble"
         : name == "zbv"              ? "ZBVZeroBubble"
         : name == "looped-bfs"       ? "LoopedBFS"
         : name == "1f1b"             ? "1F1B"
                                      : nullptr;
}

struct Flavor {
  const char* model;
  const char* name;
  const char* flavor;
  std::int64_t blocks, hidden;
  double parameters;
};
constexpr Flavor flavors[] = {{"llama-3-8b", "llama3", "8B", 32, 4096, 8.03e9},
                              {"llama-3-70b", "llama3", "70B", 80, 8192, 70.55e9},
                              {"llama-3-405b", "llama3", "405B", 126, 16384, 405.9e9},
                              {"llama-2-7b", "llama2", "7B", 32, 4096, 6.74e9},
                              {"llama-2-13b", "llama2", "13B", 40, 5120, 13.02e9},
                              {"llama-2-70b", "llama2", "70B", 80, 8192, 68.98e9},
                              {"deepseek-v3", "deepseek_v3", "671B", 61, 7168, 682.6e9},
                              {"qwen3-30b-a3b", "qwen3", "30B-A3B", 48, 2048, 30.53e9}};

/// A scenario may keep a model's name and change its shape.
const Flavor* flavor_of(const ModelSpec& model) {
  for (const Flavor& known : flavors) {
    const bool same = model.blocks == known.blocks && model.hidden == known.hidden &&
                      std::abs(parameters_of(model) / known.parameters - 1) < 0.01;
    if (model.name == known.model && same) return &known;
  }
  return nullptr;
}

}  // namespace

Exported export_deepspeed(const Scenario& scenario) {
  const RunSpec& run = scenario.run;
  const ParallelSpec& parallel = run.parallel;
  Exported out;
  nlohmann::ordered_json json;
  json["train_batch_size"] = run.batch.global;
  json["train_micro_batch_size_per_gpu"] = run.batch.micro;
  json["gradient_accumulation_steps"] = run.batch.global / std::max<std::int64_t>(1, run.batch.micro * parallel.data);
  if (parallel.tensor > 1) json["tensor_parallel"] = {{"autotp_size", parallel.tensor}};
  if (parallel.context > 1) json["sequence_parallel_size"] = parallel.context;
  json["optimizer"] = {{"type", run.optimizer == Optimizer::sgd ? "SGD" : "AdamW"}};
  json[run.precision == Precision::fp16_mixed ? "fp16" : "bf16"] = {
      {"enabled", run.precision == Precision::fp16_mixed || run.precision == Precision::bf16_mixed}};
  auto& zero = json["zero_optimization"];
  zero["stage"] = run.zero_stage;
  zero["overlap_comm"] = run.overlap.gradient_reduce;
  if (run.overlap.gradient_reduce) {
    const double element = run.precision == Precision::fp32 ? 4 : 2;
    zero["reduce_bucket_size"] = static_cast<std::int64_t>(run.gradient_bucket_bytes / element);
  }
  if (run.sharding.secondary > 0) zero["zero_hpz_partition_size"] = run.sharding.secondary;
  if (run.sharding.int8_gather) zero["zero_quantized_weights"] = true;
  if (run.sharding.int4_reduce) zero["zero_quantized_gradients"] = true;
  if (run.sharding.group > 0) zero["mics_shard_size"] = run.sharding.group;
  if (run.offload.optimizer != Home::gpu) zero["offload_optimizer"] = {{"device", device_of(run.offload.optimizer)}};
  if (run.offload.parameters != Home::gpu) zero["offload_param"] = {{"device", device_of(run.offload.parameters)}};
  if (!run.sharding.reduce_scatter) zero["reduce_scatter"] = false;
  const bool in_float =
      run.gradient_compression == GradientCompression::fp16 || run.gradient_compression == GradientCompression::fp32;
  if (in_float) json["communication_data_type"] = to_text(run.gradient_compression);
  if (run.recompute == Recompute::full) json["activation_checkpointing"] = {{"partition_activations", true}};
  leave(out, parallel.pipeline > 1, "parallel.pipeline (a PipelineModule is code)");
  leave(out, parallel.context > 1 && parallel.context_method != ContextMethod::ulysses, "parallel.context_method");
  leave(out, scenario.model.moe.experts > 0, "model.moe (deepspeed.moe is code)");
  leave(out, run.precision == Precision::fp8_mixed, "precision fp8_mixed");
  leave(out, run.recompute == Recompute::selective || run.recompute == Recompute::per_op, "recompute");
  leave(out, run.gradient_compression == GradientCompression::int8, "gradient_compression int8");
  leave(out, run.optimizer != Optimizer::sgd && run.optimizer != Optimizer::adam, "optimizer");
  leave(out, run.framework != Framework::deepspeed, "framework");
  leave(out, run.sequence_length != scenario.model.sequence_length, "sequence_length");
  leave(out, run.overlap.parameter_gather != (run.overlap.gradient_reduce && run.zero_stage == 3) && run.zero_stage > 0,
        "overlap.parameter_gather");
  leave(out, run.sharding.unit != ShardUnit::block && run.zero_stage > 1, "sharding.unit");
  leave(out, run.precision == Precision::tf32 || run.precision == Precision::bf16_pure, "precision");
  leave(out, parallel.pipeline > 1 && run.partition.rule != PartitionRule::uniform, "parallel.partition");
  constexpr std::array<std::string_view, 13> written{"sharding.group",
                                                     "sharding.secondary",
                                                     "sharding.int8_gather",
                                                     "sharding.int4_reduce",
                                                     "sharding.reduce_scatter",
                                                     "sharding.unit",
                                                     "offload.optimizer",
                                                     "offload.parameters",
                                                     "overlap.gradient_reduce",
                                                     "overlap.parameter_gather",
                                                     "optimizer",
                                                     "gradient_compression",
                                                     "gradient_bucket"};
  leave_unwritten(scenario, written, out.left_out);
  out.left_out.emplace_back("model (a DeepSpeed configuration names none)");
  out.text = json.dump(2) + "\n";
  return out;
}

Exported export_torchtitan(const Scenario& scenario) {
  const RunSpec& run = scenario.run;
  const ParallelSpec& parallel = run.parallel;
  Exported out;
  const Flavor* const flavor = flavor_of(scenario.model);
  if (flavor != nullptr) {
    out.text += fmt::format("[model]\nname = \"{}\"\nflavor = \"{}\"\n", flavor->name, flavor->flavor);
  } else {
    out.left_out.push_back(fmt::format("model ({} has no flavor in torchtitan)", scenario.model.name));
  }
  if (run.precision == Precision::fp8_mixed) {
    if (flavor == nullptr) out.text += "[model]\n";
    out.text += "converters = [\"float8\"]\n";
    if (run.fp8_scaling == Fp8Scaling::per_row) out.text += "\n[float8]\nrecipe_name = \"rowwise\"\n";
  }
  out.text +=
      fmt::format("\n[training]\nlocal_batch_size = {}\nglobal_batch_size = {}\nseq_len = {}\n",
                  parallel.pipeline > 1 ? run.batch.global / parallel.data / run.schedule.flushes : run.batch.micro,
                  run.batch.global, run.sequence_length);
  const std::int64_t group = run.sharding.group;
  const bool shards = run.zero_stage == 3;
  const std::int64_t shard = !shards     ? 1
                             : group > 0 ? std::max<std::int64_t>(1, group / parallel.context)
                                         : parallel.data;
  out.text += fmt::format(
      "\n[parallelism]\ndata_parallel_shard_degree = {}\ndata_parallel_replicate_degree = {}\n"
      "tensor_parallel_degree = {}\npipeline_parallel_degree = {}\ncontext_parallel_degree = {}\n",
      shard, parallel.data / shard, parallel.tensor, parallel.pipeline, parallel.context);
  if (parallel.context > 1) {
    const bool ring = parallel.context_method == ContextMethod::ring;
    out.text += fmt::format("context_parallel_rotate_method = \"{}\"\n", ring ? "alltoall" : "allgather");
  }
  if (scenario.model.moe.experts > 0) {
    out.text += fmt::format("expert_parallel_degree = {}\n", parallel.expert);
    if (parallel.expert_tensor > 0) {
      out.text += fmt::format("expert_tensor_parallel_degree = {}\n", parallel.expert_tensor);
    }
  }
  if (parallel.pipeline > 1) {
    const char* const known = schedule_of(run.schedule.name);
    out.text += fmt::format("pipeline_parallel_schedule = \"{}\"\npipeline_parallel_microbatch_size = {}\n",
                            known == nullptr ? "1F1B" : known, run.batch.micro);
  }
  out.text +=
      fmt::format("fsdp_reshard_after_forward = \"{}\"\n", run.sharding.reshard_after_forward ? "always" : "never");
  const bool every = run.recompute_scope == RecomputeScope::every_kth;
  const char* mode = run.recompute == Recompute::none                                                    ? "none"
                     : run.recompute == Recompute::per_op || (every && run.recompute == Recompute::full) ? "selective"
                                                                                                         : "full";
  out.text += fmt::format("\n[activation_checkpoint]\nmode = \"{}\"\n", mode);
  if (run.recompute == Recompute::per_op) out.text += "selective_ac_option = \"op\"\n";
  if (every && run.recompute == Recompute::full) {
    out.text += fmt::format("selective_ac_option = \"{}\"\n", run.recompute_blocks);
  }
  out.text += fmt::format("\n[compile]\nenable = {}\n", run.fused_kernels);
  leave(out, run.recompute == Recompute::selective, "recompute selective");
  leave(out, run.zero_stage == 1 || run.zero_stage == 2, "zero_stage 1 and 2");
  leave(out, parallel.context_method == ContextMethod::ulysses || parallel.context_method == ContextMethod::combined,
        "parallel.context_method");
  leave(out, run.framework != Framework::fsdp, "framework");
  const bool sends = parallel.data * parallel.context > 1;
  leave(out, sends && !run.overlap.gradient_reduce, "overlap.gradient_reduce");
  leave(out, sends && run.zero_stage == 3 && !run.overlap.parameter_gather, "overlap.parameter_gather");
  leave(out, parallel.pipeline > 1 && schedule_of(run.schedule.name) == nullptr, "schedule");
  leave(out, parallel.pipeline > 1 && run.partition.rule != PartitionRule::uniform, "parallel.partition");
  leave(out, run.precision != Precision::bf16_mixed && run.precision != Precision::fp8_mixed, "precision");
  const bool dynamic = run.fp8_scaling == Fp8Scaling::current || run.fp8_scaling == Fp8Scaling::per_row;
  leave(out, run.precision == Precision::fp8_mixed && !dynamic, "fp8_scaling");
  leave(out, shards && run.sharding.unit != ShardUnit::block, "sharding.unit");
  constexpr std::array<std::string_view, 9> written{"schedule",
                                                    "schedule.flushes",
                                                    "sharding.group",
                                                    "sharding.unit",
                                                    "sharding.reshard_after_forward",
                                                    "overlap.gradient_reduce",
                                                    "overlap.parameter_gather",
                                                    "fused_kernels",
                                                    "fp8_scaling"};
  leave_unwritten(scenario, written, out.left_out);
  return out;
}

}  // namespace stagecraft

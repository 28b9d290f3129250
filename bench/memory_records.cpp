#include "memory_records.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "spec/precision.hpp"

namespace stagecraft::bench {
namespace {

using Json = nlohmann::json;

constexpr double GiB = 1073741824.0, MiB = 1048576.0;

bool has(const Json& text, const char* part) {
  return text.is_string() && text.get<std::string>().find(part) != std::string::npos;
}

bool argument(const Json& record, const char* name) {
  const auto arguments = record.find("arguments");
  return arguments != record.end() && arguments->value(name, false);
}

/// What a group's runs share, because they ran the same software.
struct GroupRule {
  const char* group;
  Framework framework;
  bool llama;          // RMSNorm, rotary positions, no biases, no dropout
  bool tied;           // where the record does not say
  double dropout;      // of models that are not llama's
  const char* kernel;  // where the record does not name one: "flash" or "softmax"
};

constexpr GroupRule rules[] = {
    {"megatron-ci", Framework::transformer_engine, false, true, 0.1, "flash"},
    {"simumax", Framework::transformer_engine, true, false, 0, "flash"},
    {"bigscience-v100", Framework::deepspeed, false, true, 0.1, "softmax"},
    {"vocab-parallel", Framework::megatron, false, false, 0.1, "flash"},
    {"bloom-a100", Framework::deepspeed, false, true, 0.1, "softmax"},
    {"torchtitan", Framework::fsdp, true, false, 0, "flash"},
    {"torchtitan-a100", Framework::fsdp, true, false, 0, "flash"},
    {"zero-bubble", Framework::megatron, false, false, 0.1, "softmax"},
    {"hagemann", Framework::megatron, true, false, 0, "flash"},
    {"mosaic", Framework::fsdp, false, true, 0, "flash"},
};

const GroupRule& rule_of(const std::string& group) {
  for (const GroupRule& rule : rules) {
    if (group == rule.group) return rule;
  }
  throw std::runtime_error("no rule for the group " + group);
}

ModelSpec model_of(const Json& record, const GroupRule& rule) {
  ModelSpec model;
  model.name = record.at("id");
  model.hidden = record.at("hidden");
  model.blocks = record.at("blocks");
  model.vocabulary = record.at("vocabulary").is_null() ? 50304 : record.at("vocabulary").get<std::int64_t>();
  model.sequence_length = record.at("sequence");
  const bool gated = record.at("gated");
  const bool mosaic = std::string(rule.group) == "mosaic";  // MPT: ALiBi, no biases
  const bool bias = record.value("bias", !rule.llama && !mosaic);
  model.attention.heads = record.at("heads");
  model.attention.kv_heads = record.at("kv_heads");
  model.attention.head_dim = record.at("head_dim");
  model.attention.bias = bias;
  model.mlp = {record.at("ffn"), gated, gated ? Activation::silu : Activation::gelu, bias};
  model.norm = rule.llama ? Norm::rms_norm : Norm::layer_norm;
  model.positions = rule.llama || has(record.value("positions", Json()), "rope") ? Positions::rotary
                    : mosaic                                                     ? Positions::none
                                                                                 : Positions::learned;
  model.tied_embeddings = record.at("tied").is_null() ? rule.tied : record.at("tied").get<bool>();
  model.dropout = rule.llama ? 0 : rule.dropout;
  if (record.contains("moe")) {
    const Json& moe = record.at("moe");
    model.moe.experts = moe.at("experts");
    model.moe.top_k = moe.at("topk");
    model.moe.ffn_hidden = moe.at("expert_ffn");
    model.moe.shared_ffn_hidden = moe.value("shared_experts_ffn", 0);
    model.moe.dense_blocks = moe.value("dense_layers", 0);
  }
  if (has(record.at("attention"), "MLA")) {  // "MLA (q_lora 1536, kv_lora 512, nope 128, rope 64, v 128)"
    const auto number = [text = record.at("attention").get<std::string>()](const std::string& name) {
      return std::int64_t{std::stoll(text.substr(text.find(name + " ") + name.size() + 1))};
    };
    model.attention.latent = {number("q_lora"), number("kv_lora"), number("rope"), number(" v")};
    model.attention.head_dim = number("nope");
  }
  return model;
}

void set_precision(const Json& record, RunSpec& run) {
  const Json& precision = record.at("precision");
  run.precision = has(precision, "fp16") && !has(precision, "bf16") ? Precision::fp16_mixed : Precision::bf16_mixed;
  if (has(precision, "float8")) run.precision = Precision::fp8_mixed;
  if (has(precision, "bf16 pure")) run.precision = Precision::bf16_pure;
  run.fp32_gradients = usually_fp32_gradients(run.precision);
  if (run.framework == Framework::fsdp && run.precision != Precision::bf16_pure) {
    run.recipe = StateRecipe::fp32_autocast;
  }
}

void set_kernels(const Json& record, const GroupRule& rule, RunSpec& run) {
  const bool flash =
      record.at("flash").is_null() ? std::string(rule.kernel) == "flash" : record.at("flash").get<bool>();
  run.attention_kernel = flash ? AttentionKernel::flash_2 : AttentionKernel::fused_softmax;
  const Json& recompute = record.at("recompute");
  run.recompute = has(recompute, "full")        ? Recompute::full
                  : has(recompute, "per-op")    ? Recompute::per_op
                  : has(recompute, "selective") ? Recompute::selective
                                                : Recompute::none;
  const std::string group = rule.group;
  // MPT takes flash-attention's fused cross-entropy; the others PyTorch's, on fp32 logits of the whole vocabulary.
  if (group == "mosaic") run.loss_kernel = LossKernel::fused;
  if (group.starts_with("torchtitan") || group == "hagemann") run.loss_kernel = LossKernel::full_fp32;
  // The layouts paper's code: kernels of PyTorch, and the fused RMSNorm where the record says so.
  if (group == "hagemann") {
    run.fused_kernels = has(record.at("notes"), "RMSNorm fused kernel on");
    run.gradient_accumulation_fusion = false;
  }
}

/// Megatron-LM's arguments say which layers ran and how gradients were added.
void apply_arguments(const Json& record, RunSpec& run) {
  if (!record.contains("arguments")) return;
  const bool local = record.at("arguments").value("transformer-impl", std::string("transformer_engine")) == "local";
  if (local) {
    run.framework = Framework::megatron;
    run.attention_kernel = AttentionKernel::fused_softmax;
  }
  if (record.at("arguments").value("attention-backend", "") == "unfused") {
    run.attention_kernel = AttentionKernel::fused_softmax;
  }
  run.gradient_accumulation_fusion = !argument(record, "no-gradient-accumulation-fusion");
}

std::string schedule_name(const Json& record) {
  const Json& name = record.at("schedule");
  if (has(name, "interleaved")) return "interleaved-1f1b";
  if (has(name, "ZB-1p") || has(name, "ZB-2p")) return "zb-auto";
  if (has(name, "ZB-V")) return "zb-v";
  return record.at("virtual") > 1 ? "interleaved-1f1b" : "1f1b";
}

/// Publications give one layer fewer to the first and last stage of zero-bubble models.
PartitionSpec partition_of(const Json& record, const ModelSpec& model, const RunSpec& run) {
  const std::int64_t stages = run.parallel.pipeline * run.parallel.virtual_stages;
  const Json arguments = record.value("arguments", Json::object());
  if (arguments.contains("decoder-first-pipeline-num-layers") && stages > 2) {
    PartitionSpec partition{PartitionRule::explicit_list, {}};
    const std::int64_t first = arguments.at("decoder-first-pipeline-num-layers");
    const std::int64_t last = arguments.at("decoder-last-pipeline-num-layers");
    partition.blocks_per_stage.assign(static_cast<std::size_t>(stages), (model.blocks - first - last) / (stages - 2));
    partition.blocks_per_stage.front() = first;
    partition.blocks_per_stage.back() = last;
    return partition;
  }
  if (model.blocks % stages == 0) return {};
  if ((model.blocks + 2) % stages == 0) {
    PartitionSpec partition{PartitionRule::explicit_list, {}};
    partition.blocks_per_stage.assign(static_cast<std::size_t>(stages), (model.blocks + 2) / stages);
    --partition.blocks_per_stage.front();
    --partition.blocks_per_stage.back();
    return partition;
  }
  // Otherwise earlier stages take one layer more.
  PartitionSpec partition{PartitionRule::explicit_list, {}};
  for (std::int64_t s = 0; s < stages; ++s) {
    partition.blocks_per_stage.push_back(model.blocks / stages + (s < model.blocks % stages ? 1 : 0));
  }
  return partition;
}

RunSpec run_of(const Json& record, const GroupRule& rule, const ModelSpec& model) {
  RunSpec run;
  run.framework = rule.framework;
  run.parallel.tensor = record.at("tensor");
  run.parallel.context = record.at("context");
  run.parallel.pipeline = record.at("pipeline");
  run.parallel.data = record.at("data");
  run.parallel.virtual_stages = record.at("virtual");
  run.parallel.expert = record.at("expert");
  // SimuMax and Megatron-Bridge switch sequence parallelism on with tensor parallelism.
  run.parallel.sequence_parallel = record.at("sequence_parallel") || (rule.group == std::string("simumax"));
  run.batch.micro = record.at("micro");
  // A global batch that the ranks do not divide is rounded to one that they do.
  const std::int64_t share = run.batch.micro * run.parallel.data;
  const std::int64_t global = record.at("global").is_null() ? share : record.at("global").get<std::int64_t>();
  run.batch.global = std::max<std::int64_t>(1, global / share) * share;
  run.sequence_length = model.sequence_length;
  run.zero_stage = record.at("zero");
  run.sharding.unit = run.framework == Framework::fsdp ? ShardUnit::block : ShardUnit::stage;
  run.schedule.name = schedule_name(record);
  set_kernels(record, rule, run);
  apply_arguments(record, run);
  set_precision(record, run);
  if (rule.group == std::string("zero-bubble") || rule.group == std::string("vocab-parallel")) {
    run.recipe = StateRecipe::mixed_16bit_gradients;
  }
  // 13B on one GPU per replica ran, which fp32 gradients of 14 billion parameters exclude.
  if (rule.group == std::string("hagemann")) run.recipe = StateRecipe::mixed_16bit_gradients;
  // The logs of plain Megatron-LM, as opposed to the runs on DeepSpeed.
  if (rule.group == std::string("bigscience-v100") && run.zero_stage == 0) run.framework = Framework::megatron_2021;
  if (rule.group == std::string("bloom-a100") && run.precision == Precision::bf16_mixed) {
    run.recipe = StateRecipe::mixed_fp32_gradients;
  }
  run.partition = partition_of(record, model, run);
  return run;
}

GpuSpec gpu_of(const Json& record) {
  GpuSpec gpu;
  gpu.name = record.at("gpu");
  const double label = record.at("gpu_gb");
  gpu.memory = {label * 1e9};
  // As torch.cuda.mem_get_info shows an empty card: A100 and H100 80 GB 79.15 GiB, A100 40 GB 39.39 GiB, V100 31.74 and
  // 15.77 GiB.
  gpu.memory_usable = {(label == 80   ? 79.15
                        : label == 40 ? 39.39
                        : label == 32 ? 31.74
                        : label == 16 ? 15.77
                                      : label) *
                       GiB};
  gpu.architecture = has(record.at("gpu"), "V100")   ? "volta"
                     : has(record.at("gpu"), "A100") ? "ampere"
                     : has(record.at("gpu"), "B200") ? "blackwell"
                                                     : "hopper";
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8}) gpu.peak[dtype] = {1e14};
  return gpu;
}

/// Readings of a record: per stage or rank where the source prints them, else the one figure.
Json readings_of(const Json& source) {
  const Json& measured = source.at("measured");
  const std::string kind = measured.value("memory_kind", "");
  const auto text = [&](const char* part) { return kind.find(part) != std::string::npos; };
  const char* word = text("reserved") ? "reserved" : text("nvidia-smi") ? "device" : "allocated";
  Json readings = Json::array();
  const auto add = [&](const char* which, const std::string& rank, double bytes) {
    readings.push_back({{"kind", which}, {"rank", rank}, {"bytes", bytes}});
  };
  if (measured.contains("memory_by_stage")) {
    for (const auto& [stage, values] : measured.at("memory_by_stage").items()) {
      add("allocated", stage, values.at("max_allocated_mib").get<double>() * MiB);
    }
  } else if (measured.contains("memory_by_rank_mib")) {  // [allocated, reserved] of every rank, first and last stage
    const Json& ranks = measured.at("memory_by_rank_mib");
    double first = 0, last = 0;
    for (const auto& [rank, values] : ranks.items()) {
      const bool in_first = 2 * std::stoull(rank) < ranks.size();
      (in_first ? first : last) = std::max(in_first ? first : last, values.at(0).get<double>());
    }
    const bool stages = source.at("parallel").at("pp") > 1;
    add("allocated", "first", (stages ? first : std::max(first, last)) * MiB);
    if (stages) add("allocated", "last", last * MiB);
  } else if (measured.contains("memory_bytes")) {
    add("allocated", "last", measured.at("memory_bytes"));
  } else if (measured.contains("memory_gb") && !measured.at("memory_gb").is_null()) {
    const bool gib = measured.value("memory_unit", "").starts_with("GiB") || text("nvidia-smi");
    add(word, "max", measured.at("memory_gb").get<double>() * (gib ? GiB : 1e9));
    if (measured.contains("memory_max_stage_alloc_mb")) {
      add("allocated", "max", measured.at("memory_max_stage_alloc_mb").get<double>() * MiB);
      add("allocated", "min", measured.at("memory_min_stage_alloc_mb").get<double>() * MiB);
    }
  }
  return readings;
}

/// "fits", "oom", or nothing: what is known of a run that was timed or failed.
std::string verdict_of(const Json& source) {
  const std::string group = source.at("group");
  const Json oom = source.at("measured").value("oom", Json());
  if (oom.is_boolean()) return oom.get<bool>() ? "oom" : "fits";
  return group == "mosaic" || group == "torchtitan-a100" ? "fits" : "";
}

/// The facts of a record side by side, under the names that the rule above reads.
Json flat(const Json& source) {
  const Json &model = source.at("model"), &parallel = source.at("parallel"), &batch = source.at("batch");
  const auto number = [](const Json& of, const char* key, std::int64_t otherwise) {
    return of.contains(key) && of.at(key).is_number() ? of.at(key).get<std::int64_t>() : otherwise;
  };
  const std::int64_t heads = number(model, "heads", 1);
  Json out = {{"id", source.at("id")},
              {"group", source.at("group")},
              {"gpu", source.at("gpu").at("type")},
              {"gpu_gb", source.at("gpu").at("memory_gb")},
              {"hidden", model.at("hidden")},
              {"blocks", model.at("layers")},
              {"ffn", model.at("ffn")},
              {"heads", heads},
              {"kv_heads", number(model, "kv_heads", heads)},
              {"head_dim", number(model, "head_dim", number(model, "hidden", 1) / heads)},
              {"vocabulary", model.at("vocab")},
              {"sequence", model.at("seq")},
              {"gated", model.value("gated", Json()) == true},
              {"tied", model.at("tied_embeddings")},
              {"attention", model.at("attention")},
              {"tensor", number(parallel, "tp", 1)},
              {"pipeline", number(parallel, "pp", 1)},
              {"virtual", number(parallel, "vpp", 1)},
              {"data", number(parallel, "dp", 1)},
              {"context", number(parallel, "cp", 1)},
              {"expert", number(parallel, "ep", 1)},
              {"zero", number(parallel, "zero_stage", 0)},
              {"sequence_parallel", parallel.value("sp", Json()) == true},
              {"schedule", parallel.at("schedule")},
              {"micro", number(batch, "micro", 1)},
              {"global", batch.at("global")},
              {"precision", source.at("precision")},
              {"recompute", source.at("recompute")},
              {"flash", source.at("flash_attention")},
              {"readings", readings_of(source)},
              {"verdict", verdict_of(source)},
              {"notes", source.value("notes", "")}};
  if (model.value("moe", Json()).is_object()) out["moe"] = model.at("moe");
  if (model.contains("linear_bias")) out["bias"] = model.at("linear_bias");
  if (model.contains("position")) out["positions"] = model.at("position");
  if (source.contains("megatron_args")) out["arguments"] = source.at("megatron_args");
  if (source.at("measured").contains("profile_ms")) {
    const Json& profile = source.at("measured").at("profile_ms");
    out["profile_ms"] = {profile.at("T_F"), profile.at("T_B"), profile.at("T_W"), profile.at("T_comm")};
  }
  return out;
}

/// Rebalanced runs do not say how many layers each stage has.
bool is_wanted(const Json& source) {
  const std::string group = source.at("group"), id = source.at("id");
  if (group == "vocab-parallel" && id.find("redis") != std::string::npos) return false;
  // Not expressed: embedding gradients put off to the end, Megatron-LM's own fusion of the cross-entropy.
  for (const char* unknown : {"defer-embedding-wgrad-compute", "cross-entropy-loss-fusion"}) {
    if (source.contains("megatron_args") && source.at("megatron_args").contains(unknown)) return false;
  }
  const bool known =
      std::any_of(std::begin(rules), std::end(rules), [&](const GroupRule& rule) { return group == rule.group; });
  return known && (!readings_of(source).empty() || !verdict_of(source).empty());
}

MemoryRecord record_of(const Json& json) {
  const GroupRule& rule = rule_of(json.at("group"));
  MemoryRecord record;
  record.id = json.at("id");
  record.group = json.at("group");
  record.verdict = json.value("verdict", "");
  for (const Json& reading : json.at("readings")) {
    record.readings.push_back({reading.at("kind"), reading.at("rank"), reading.at("bytes")});
  }
  record.scenario.model = model_of(json, rule);
  record.scenario.run = run_of(json, rule, record.scenario.model);
  record.scenario.cluster.gpu = gpu_of(json);
  record.scenario.cluster.node.devices.assign(8, DeviceSpec{});
  record.scenario.cluster.nodes = 2048;
  // Deterministic runs set CUBLAS_WORKSPACE_CONFIG=:4096:8, 32 MiB for each of two threads.
  const bool small = record.scenario.cluster.gpu.architecture == "ampere";
  if (argument(json, "deterministic-mode") && small) record.more_workspace = 2 * (32 - 8.125) * MiB;
  if (json.contains("profile_ms")) record.profile_ms = json.at("profile_ms").get<std::vector<double>>();
  const double p = static_cast<double>(record.scenario.run.parallel.pipeline);
  record.memory_limit = has(json.at("schedule"), "2p") ? 2 * p : p;
  return record;
}

}  // namespace

std::vector<MemoryRecord> memory_records(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const Json published = Json::parse(file);
  std::vector<MemoryRecord> records;
  for (const Json& source : published) {
    if (is_wanted(source)) records.push_back(record_of(flat(source)));
  }
  return records;
}

Schedule schedule_of(const MemoryRecord& record, const Plan& plan) {
  const FamilyEntry* entry = find_schedule(plan.run.schedule.name);
  if (entry == nullptr) throw std::runtime_error("no schedule " + plan.run.schedule.name);
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  if (!record.profile_ms.empty()) {
    request.times.forward = {record.profile_ms.at(0)};
    request.times.input_grad = {record.profile_ms.at(1)};
    request.times.weight_grad = {record.profile_ms.at(2)};
    request.times.send = record.profile_ms.at(3);
    if (plan.run.schedule.name == "zb-auto") request.memory_limit = record.memory_limit;
  }
  if (!entry->refuse(request).empty()) throw std::runtime_error("refused: " + record.id);
  return lower(entry->generate(request), plan);
}

}  // namespace stagecraft::bench

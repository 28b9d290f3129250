// Precision, recompute, attention, sharding and overlap; and which reading of memory the record gives.

#include <fmt/format.h>

#include <array>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

bool is_volta(const Record& record) {
  return contains(record.gpu, "V100");
}

std::string precision_of(Draft& draft) {
  const std::string& text = draft.record.precision;
  if (contains(text, "fp4")) throw Unmapped(fmt::format("precision \"{}\" cannot be expressed", text));
  if (contains(text, "fp8") || contains(text, "float8")) return "fp8_mixed";
  if (contains(text, "pure")) return "bf16_pure";
  const bool both = contains(text, "fp16/bf16") || contains(text, "bf16/fp16");
  if (!both && contains(text, "bf16")) return "bf16_mixed";
  if (!both && contains(text, "fp16")) return "fp16_mixed";
  if (!both && contains(text, "fp32")) return "fp32";
  const char* precision = is_volta(draft.record) ? "fp16_mixed" : "bf16_mixed";
  infer(draft, "/precision", precision, text.empty() ? "not stated" : "stated as \"" + text + "\"");
  return precision;
}

/// As the software scales unless the record says otherwise: "FP8-CS" is Megatron's word for current scaling, torchao
/// scales by the tensor at hand too, whole or by rows.
std::string fp8_scaling_of(Draft& draft) {
  const std::string& precision = draft.record.precision;
  if (contains(precision, "rowwise")) return "per_row";
  for (const char* current : {"FP8-CS", "tensorwise", "current"}) {
    if (contains(precision, current)) return "current";
  }
  for (const char* block : {"mxfp8", "FP8-MX", "blockwise", "per block"}) {
    if (contains(precision, block)) return "per_block";
  }
  const std::string usual = draft.software.fp8_scaling;
  if (usual != "per_tensor") infer(draft, "/fp8_scaling", usual, draft.software.why);
  return usual;
}

/// "selective" with the modules that the text names, if any.
std::string selective_recompute(Draft& draft) {
  if (draft.software.selective_is_per_op) return "per_op";
  const std::vector<std::string> modules = recompute_modules_of(draft.record.recompute);
  if (!modules.empty()) set(draft, "/recompute_modules", modules);
  return "selective";
}

std::string recompute_of(Draft& draft) {
  const std::string& text = draft.record.recompute;
  if (is_guessed(draft.record, "recompute") && !draft.software.trusts_inferred_recompute) {
    draft.mapping.recompute_is_open = true;
    return "none";
  }
  if (contains(text, "per-op")) return "per_op";
  if (contains(text, "every 2nd")) {
    set(draft, "/recompute_scope", "every_kth");
    set(draft, "/recompute_blocks", std::int64_t{2});
    return "full";
  }
  if (contains(text, "every")) throw Unmapped(fmt::format("recompute \"{}\" cannot be expressed", text));
  if (contains(text, "full")) return "full";
  if (contains(text, "selective")) return selective_recompute(draft);
  draft.mapping.recompute_is_open = text.empty();
  return "none";
}

std::string attention_of(Draft& draft) {
  const Record& record = draft.record;
  const RecordArguments& arguments = record.arguments;
  if (arguments.transformer == "local" || arguments.attention == "unfused") return "fused_softmax";
  if (record.flash_attention && !*record.flash_attention) return draft.software.without_flash;
  const bool guessed = is_guessed(record, "flash_attention");
  if (guessed && !draft.software.trusts_inferred_flash) {
    infer(draft, "/attention_kernel", draft.software.without_flash, draft.software.why);
    return draft.software.without_flash;
  }
  const bool hopper = contains(record.gpu, "H100") || contains(record.gpu, "H200") || contains(record.gpu, "500 W");
  const bool blackwell = contains(record.gpu, "B200") || contains(record.gpu, "B300");
  const char* flash = blackwell ? "flash_4" : hopper ? draft.software.hopper_flash : draft.software.ampere_flash;
  if (record.flash_attention) {
    infer(draft, "/attention_kernel", flash, "flash attention, of the generation of GPU and software");
    return flash;
  }
  const std::string profile = draft.software.profile;
  const bool early = is_volta(record) || profile == "megatron-2021" || profile == "megatron-deepspeed-2022" ||
                     draft.record.group.starts_with("korthikanti") ||
                     std::string(draft.software.name) == "zero-bubble-2023";
  const char* kernel = early ? "fused_softmax" : flash;
  infer(draft, "/attention_kernel", kernel, fmt::format("not stated; {}", draft.software.why));
  return kernel;
}

std::int64_t zero_stage_of(Draft& draft) {
  const RecordParallel& parallel = draft.record.parallel;
  if (parallel.zero_stage) return *parallel.zero_stage;
  if (draft.software.overlaps_parameters) {
    infer(draft, "/zero_stage", "1",
          "not stated; gathering parameters behind the forward needs a distributed optimizer");
    return 1;
  }
  infer(draft, "/zero_stage", "0", "not stated");
  return 0;
}

/// What the software does, though no record says so.
void as_software(Draft& draft, const char* pointer, const char* word) {
  set(draft, pointer, word);
  infer(draft, pointer, word, draft.software.why);
}

void as_software(Draft& draft, const char* pointer, bool value) {
  set(draft, pointer, value);
  infer(draft, pointer, value ? "true" : "false", draft.software.why);
}

/// Whose habits the run follows; what FSDP's users set beside it.
void map_framework(Draft& draft, std::int64_t zero_stage, const std::string& precision) {
  const std::string profile = draft.software.profile;
  const bool fsdp = !draft.record.parallel.fsdp.empty() || profile == "pytorch-2023";
  const bool deepspeed = profile == "megatron-deepspeed-2022" && zero_stage > 0;
  const char* framework = deepspeed                                                            ? "deepspeed"
                          : profile == "megatron-deepspeed-2022" || profile == "megatron-2021" ? "megatron_2021"
                          : profile == "megatron-2024"                                         ? "transformer_engine"
                          : fsdp && zero_stage == 3                                            ? "fsdp"
                                                                                               : "megatron";
  if (*draft.software.framework != '\0') framework = draft.software.framework;
  if (draft.record.arguments.transformer == "local") framework = "megatron";
  if (*draft.software.recipe != '\0') as_software(draft, "/recipe", draft.software.recipe);
  as_software(draft, "/framework", framework);
  if (zero_stage >= 2) set(draft, "/sharding/unit", "block");
  if (const auto group = draft.record.parallel.zero_group; group && zero_stage == 1)
    set(draft, "/sharding/group", *group);
  if (zero_stage >= 2 && contains(draft.record.parallel.fsdp, "HSDP")) {
    set(draft, "/sharding/group", std::int64_t{8});
    infer(draft, "/sharding/group", "8", "HSDP shards inside a node and replicates between nodes");
  }
  const bool names_loss = *draft.software.loss != '\0';
  if (names_loss) as_software(draft, "/loss_kernel", draft.software.loss);
  if (std::string(framework) != "fsdp") return;
  if (!names_loss && draft.record.parallel.tensor.value_or(1) == 1) {  // torchtitan divides it with the vocabulary
    set(draft, "/loss_kernel", "full_fp32");
    infer(draft, "/loss_kernel", "full_fp32", "torch.nn.functional.cross_entropy on fp32 logits");
  }
  if (precision != "bf16_pure") set(draft, "/recipe", "fp32_autocast");
}

void map_offload(Draft& draft) {
  const std::string& text = draft.record.offload;
  if (text.empty() || contains(text, "none")) return;
  if (contains(text, "activations")) {  // "activations of 40 blocks to CPU"
    set(draft, "/offload/activations", "host");
    const std::size_t digits = text.find_first_of("0123456789");
    if (digits != std::string::npos) {
      set(draft, "/offload/activation_blocks", static_cast<std::int64_t>(std::stoi(text.substr(digits, 4))));
    }
    return;
  }
  const bool host = contains(text, "CPU");
  if (!host || !(contains(text, "optimizer") || contains(text, "adam"))) {
    throw Unmapped(fmt::format("offload (\"{}\") cannot be expressed", text));
  }
  set(draft, "/offload/optimizer", "host");
  if (contains(text, "parameters")) set(draft, "/offload/parameters", "host");
}

/// NVIDIA-NeMo/Megatron-Bridge, scripts/performance/perf_plugins.py: the runs that PYTORCH_CUDA_ALLOC_CONF is set for.
bool has_expandable_segments(const Record& record) {
  if (!contains(record.group, "mbridge")) return false;
  const bool gb200 = contains(record.gpu, "GB200"), fp8 = contains(record.precision, "fp8");
  return (contains(record.model.name, "405B") && gb200 && fp8) ||
         (is_deepseek_v3_of_nvidia(record) && (gb200 || contains(record.gpu, "H100")));
}

}  // namespace

std::vector<std::string> recompute_modules_of(const std::string& text) {
  constexpr std::array<std::pair<const char*, const char*>, 4> words{{{"core_attn", "core_attention"},
                                                                      {"layernorm", "norms"},
                                                                      {"moe_act", "activation"},
                                                                      {"mla_up_proj", "latent_up_projection"}}};
  std::vector<std::string> modules;
  for (const auto& [word, module] : words) {
    if (contains(text, word)) modules.emplace_back(module);
  }
  return modules;
}

void map_kernels(Draft& draft) {
  const Record& record = draft.record;
  map_offload(draft);
  const SoftwarePeriod& software = draft.software;
  const bool none = contains(record.overlap, "none");
  const auto overlap = [&](bool usual) { return usual && !none; };
  const std::string precision = precision_of(draft);
  set(draft, "/precision", precision);
  if (precision == "fp8_mixed") set(draft, "/fp8_scaling", fp8_scaling_of(draft));
  set(draft, "/recompute", recompute_of(draft));
  set(draft, "/attention_kernel", attention_of(draft));
  const std::int64_t zero_stage = zero_stage_of(draft);
  set(draft, "/zero_stage", zero_stage);
  map_framework(draft, zero_stage, precision);
  const bool behind = software.overlaps_in_pipelines || record.parallel.pipeline.value_or(1) == 1;
  set(draft, "/overlap/gradient_reduce", overlap(software.overlaps_gradients && behind));
  set(draft, "/overlap/parameter_gather", overlap(software.overlaps_parameters && behind));
  set(draft, "/overlap/pipeline", overlap(software.overlaps_pipeline));
  set(draft, "/overlap/tensor", overlap(software.overlaps_tensor));
  if (software.sends_whole) as_software(draft, "/scatter_gather", false);
  if (*software.reduces_in != '\0') as_software(draft, "/gradient_compression", software.reduces_in);
  if (software.all_reduces && zero_stage == 1) as_software(draft, "/sharding/reduce_scatter", false);
  if (software.attention_waits) as_software(draft, "/host/attention_waits", true);
  const bool eager = contains(record.id, "eager");  // sources that measure both name the run so
  const bool fused = (software.fused_kernels && !eager) || contains(record.kernel, "RMS kernel");
  set(draft, "/fused_kernels", fused);
  const bool fusion = software.accumulation_fusion && !record.arguments.no_accumulation_fusion &&
                      !contains(record.precision, "no gradient-accumulation fusion");
  set(draft, "/gradient_accumulation_fusion", fusion);
  infer(draft, "/overlap", none ? "none" : "as the software does it", none ? record.overlap : software.why);
  infer(draft, "/fused_kernels", fused ? "true" : "false", eager ? "run eagerly" : software.why);
  infer(draft, "/gradient_accumulation_fusion", fusion ? "true" : "false", software.why);
}

void map_memory(Draft& draft) {
  const Record& record = draft.record;
  if (has_expandable_segments(record)) {
    set(draft, "/expandable_segments", true);
    infer(draft, "/expandable_segments", "true", "NVIDIA's environment of this run");
  }
  Mapping& mapping = draft.mapping;
  const RecordArguments& arguments = record.arguments;
  if (contains(record.measured.memory_kind, "formula")) mapping.no_memory = "the figure is a formula's, not a reading";
  if (contains(record.measured.memory_kind, "calculated")) {
    mapping.no_memory = "the figure is calculated, of transformer blocks alone";
  }
  if (arguments.late_embedding_gradients) mapping.no_memory = "embedding gradients put off to the end of the step";
  if (arguments.fused_cross_entropy) mapping.no_memory = "Megatron-LM's own fusion of the cross-entropy";
  // Deterministic runs set CUBLAS_WORKSPACE_CONFIG=:4096:8, 32 MiB for each of two threads, which is usual from Hopper
  // on.
  if (arguments.deterministic && contains(record.gpu, "A100")) mapping.more_workspace = 2 * (32 - 8.125) * 1048576;
}

}  // namespace stagecraft

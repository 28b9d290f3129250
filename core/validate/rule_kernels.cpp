// Precision, recompute, attention, sharding and overlap; and which reading of memory the record gives.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

bool is_volta(const Record& record) {
  return contains(record.gpu, "V100");
}

std::string precision_of(Draft& draft) {
  const std::string& text = draft.record.precision;
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

std::string recompute_of(Draft& draft) {
  const std::string& text = draft.record.recompute;
  if (contains(text, "per-op")) return "per_op";
  if (contains(text, "every")) {
    throw Unmapped(fmt::format("recompute \"{}\" cannot be expressed", text));
  }
  if (contains(text, "full")) return "full";
  if (contains(text, "selective")) return "selective";
  if (text.empty()) infer(draft, "/recompute", "none", "not stated");
  return "none";
}

std::string attention_of(Draft& draft) {
  const Record& record = draft.record;
  if (record.flash_attention && !*record.flash_attention) return draft.software.without_flash;
  const auto& guesses = record.inferred;
  const bool guessed = std::find(guesses.begin(), guesses.end(), "flash_attention") != guesses.end();
  if (guessed && !draft.software.trusts_inferred_flash) {
    infer(draft, "/attention_kernel", draft.software.without_flash, draft.software.why);
    return draft.software.without_flash;
  }
  const bool hopper = contains(record.gpu, "H100") || contains(record.gpu, "H200") || contains(record.gpu, "500 W");
  const char* flash = hopper ? draft.software.hopper_flash : draft.software.ampere_flash;
  if (record.flash_attention) {
    infer(draft, "/attention_kernel", flash, "flash attention, of the generation of GPU and software");
    return flash;
  }
  const std::string profile = draft.software.profile;
  const bool early = is_volta(record) || profile == "megatron-2021" || profile == "megatron-deepspeed-2022" ||
                     draft.record.group.starts_with("korthikanti");
  const char* kernel = early ? "fused_softmax" : flash;
  infer(draft, "/attention_kernel", kernel, fmt::format("not stated; {}", draft.software.why));
  return kernel;
}

std::int64_t zero_stage_of(Draft& draft) {
  const RecordParallel& parallel = draft.record.parallel;
  if (parallel.zero_stage) return *parallel.zero_stage;
  infer(draft, "/zero_stage", "0", "not stated");
  return 0;
}

/// Whose habits with memory the run follows; what FSDP's users set beside it.
void map_framework(Draft& draft, std::int64_t zero_stage) {
  const std::string profile = draft.software.profile;
  const bool fsdp = !draft.record.parallel.fsdp.empty() || profile == "pytorch-2023";
  const bool deepspeed = profile == "megatron-deepspeed-2022" && zero_stage > 0;
  const char* framework = deepspeed                                                            ? "deepspeed"
                          : profile == "megatron-deepspeed-2022" || profile == "megatron-2021" ? "megatron_2021"
                          : profile == "megatron-2024"                                         ? "transformer_engine"
                          : fsdp && zero_stage == 3                                            ? "fsdp"
                                                                                               : "megatron";
  OrderedJson& scenario = draft.scenario;
  scenario["framework"] = framework;
  infer(draft, "/framework", framework, draft.software.why);
  if (zero_stage >= 2) scenario["sharding"] = {{"unit", "block"}};
  if (zero_stage >= 2 && contains(draft.record.parallel.fsdp, "HSDP")) {
    scenario["sharding"]["group"] = 8;
    infer(draft, "/sharding/group", "8", "HSDP shards inside a node and replicates between nodes");
  }
  const std::string loss = draft.software.loss;
  if (!loss.empty()) {
    scenario["loss_kernel"] = loss;
    infer(draft, "/loss_kernel", loss, draft.software.why);
  }
  if (std::string(framework) != "fsdp") return;
  if (loss.empty()) {
    scenario["loss_kernel"] = "full_fp32";
    infer(draft, "/loss_kernel", "full_fp32", "torch.nn.functional.cross_entropy on fp32 logits");
  }
  if (scenario["precision"] != "bf16_pure") scenario["recipe"] = "fp32_autocast";
}

}  // namespace

void map_kernels(Draft& draft) {
  const Record& record = draft.record;
  if (!record.offload.empty() && !contains(record.offload, "none")) {
    throw Unmapped(fmt::format("offload (\"{}\") cannot be expressed", record.offload));
  }
  if (record.parallel.expert.value_or(1) > 1) throw Unmapped("expert parallelism cannot be expressed");
  const SoftwarePeriod& software = draft.software;
  const bool none = contains(record.overlap, "none");
  const auto overlap = [&](bool usual) { return usual && !none; };
  OrderedJson& scenario = draft.scenario;
  scenario["precision"] = precision_of(draft);
  scenario["recompute"] = recompute_of(draft);
  scenario["attention_kernel"] = attention_of(draft);
  const std::int64_t zero_stage = zero_stage_of(draft);
  scenario["zero_stage"] = zero_stage;
  map_framework(draft, zero_stage);
  scenario["overlap"] = {{"gradient_reduce", overlap(software.overlaps_gradients)},
                         {"parameter_gather", overlap(software.overlaps_parameters)},
                         {"pipeline", overlap(software.overlaps_pipeline)},
                         {"tensor", overlap(software.overlaps_tensor)}};
  scenario["scatter_gather"] = true;
  const bool fused = software.fused_kernels || contains(record.kernel, "RMS kernel");
  scenario["fused_kernels"] = fused;
  const bool fusion = software.accumulation_fusion && !contains(record.precision, "no gradient-accumulation fusion");
  scenario["gradient_accumulation_fusion"] = fusion;
  infer(draft, "/overlap", none ? "none" : "as the software does it", none ? record.overlap : software.why);
  infer(draft, "/fused_kernels", fused ? "true" : "false", software.why);
  infer(draft, "/gradient_accumulation_fusion", fusion ? "true" : "false", software.why);
}

void map_memory(Draft& draft) {
  const RecordMeasured& measured = draft.record.measured;
  Mapping& mapping = draft.mapping;
  mapping.memory_reading = MemoryReading::allocated;
  if (contains(measured.memory_kind, "reserved")) mapping.memory_reading = MemoryReading::reserved;
  if (contains(measured.memory_kind, "nvidia-smi")) mapping.memory_reading = MemoryReading::device;
  mapping.memory_of = MemoryOf::largest;
  if (contains(measured.memory_scope, "last rank")) mapping.memory_of = MemoryOf::last;
  const bool first = contains(measured.memory_scope, "first pipeline stage") || measured.memory_scope == "rank 0";
  if (first && !contains(measured.memory_scope, "max")) mapping.memory_of = MemoryOf::first;
  if (contains(measured.memory_kind, "formula")) {
    mapping.no_memory = "the figure is a formula's, not a reading";
  }
}

}  // namespace stagecraft

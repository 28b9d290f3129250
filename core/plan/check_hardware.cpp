// The GPU can compute in the precision and run the attention kernel that were asked for.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {
namespace {

struct PrecisionName {
  Precision precision;
  Dtype compute;
  const char* name;
};

constexpr std::array precisions{
    PrecisionName{Precision::bf16_mixed, Dtype::bf16, "bf16_mixed"},
    PrecisionName{Precision::bf16_pure, Dtype::bf16, "bf16_pure"},
    PrecisionName{Precision::fp16_mixed, Dtype::fp16, "fp16_mixed"},
    PrecisionName{Precision::tf32, Dtype::tf32, "tf32"},
    PrecisionName{Precision::fp32, Dtype::fp32, "fp32"},
    PrecisionName{Precision::fp8_mixed, Dtype::fp8, "fp8_mixed"},
};

/// FlashAttention 1 needs Turing, 2 Ampere, 3 Hopper, 4 Blackwell (github.com/Dao-AILab/flash-attention README).
bool runs(AttentionKernel kernel, std::string_view architecture) {
  const bool old = architecture == "volta" || architecture == "cpu";
  switch (kernel) {
    case AttentionKernel::flash_1:
    case AttentionKernel::flash_2:
      return !old;
    case AttentionKernel::flash_3:
      return architecture == "hopper";
    case AttentionKernel::flash_4:
      return architecture == "blackwell";
    case AttentionKernel::unfused:
    case AttentionKernel::fused_softmax:
      break;
  }
  return true;
}

void check_gpu(const Scenario& scenario, const GpuSpec& gpu, Findings& findings) {
  for (const PrecisionName& wanted : precisions) {
    if (wanted.precision != scenario.run.precision || gpu.peak.contains(wanted.compute)) continue;
    std::string possible;
    for (const PrecisionName& other : precisions) {
      if (gpu.peak.contains(other.compute)) possible += (possible.empty() ? "" : ", ") + std::string(other.name);
    }
    findings.push_back({Severity::error, "precision-without-peak", "/precision",
                        fmt::format("{} has no peak rate for {}", gpu.name, to_text(wanted.compute)), possible});
  }
  if (!scenario.model.plain_layers.empty()) return;
  if (!runs(scenario.run.attention_kernel, gpu.architecture)) {
    const bool flash_2_runs = runs(AttentionKernel::flash_2, gpu.architecture);
    findings.push_back({Severity::error, "attention-kernel-unavailable", "/attention_kernel",
                        fmt::format("this FlashAttention version does not run on {} ({})", gpu.name, gpu.architecture),
                        flash_2_runs ? "flash_2" : "fused_softmax"});
  }
}

}  // namespace

void check_hardware(const Scenario& scenario, Findings& findings) {
  if (scenario.run.cuda_graphs && scenario.run.host.attention_waits) {
    findings.push_back({Severity::error, "wait-in-graph", "/host/attention_waits",
                        "a captured CUDA graph (cuda_graphs) cannot wait for the host", "false"});
  }
  for (std::size_t kind = 0; kind < kind_count(scenario.cluster); ++kind)
    check_gpu(scenario, gpu_of_kind(scenario.cluster, kind), findings);
}

}  // namespace stagecraft

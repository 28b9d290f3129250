#include "cost/missing_laws.hpp"

#include <fmt/format.h>

#include "base/input_error.hpp"
#include "cost/kernel_law.hpp"
#include "schedule/core_attention.hpp"
#include "spec/precision.hpp"

namespace stagecraft {
namespace {

[[noreturn]] void refuse(const char* pointer, const std::string& got, const Calibration& calibration,
                         const std::string& expected, const std::string& nearest) {
  InputProblem problem;
  problem.pointer = pointer;
  problem.got = fmt::format("{}, for which the calibration {} has no law", got, calibration.name);
  problem.expected = expected;
  problem.nearest = nearest;
  throw InputError(problem);
}

void require_attention(const Scenario& scenario, const Calibration& calibration) {
  if (!scenario.model.plain_layers.empty()) return;
  const std::int32_t version = flash_version(scenario.run.attention_kernel);
  if (version == 0 || calibration.attention.contains(version)) return;
  std::string known = "unfused, fused_softmax", nearest = "fused_softmax";
  for (const auto& [other, law] : calibration.attention) {
    nearest = fmt::format("flash_{}", other);
    known += ", " + nearest;
  }
  refuse("/attention_kernel", to_text(scenario.run.attention_kernel), calibration, "one of " + known, nearest);
}

void require_products(const Scenario& scenario, const GpuSpec& gpu, const Calibration& calibration) {
  const Dtype wanted = number_formats(scenario.run.precision).gemm;
  if (!gpu.peak.contains(wanted)) return;  // told as a finding, with what the GPU can do
  if (kernel_law(gpu, calibration).gemm[static_cast<std::size_t>(wanted)].known) return;
  std::string known;
  for (const auto& [dtype, law] : calibration.gemm) known += (known.empty() ? "" : ", ") + to_text(dtype);
  refuse("/precision", to_text(scenario.run.precision), calibration, "a precision whose products run in " + known, "");
}

}  // namespace

void require_laws(const Scenario& scenario, const GpuSpec& gpu, const Calibration& calibration) {
  require_attention(scenario, calibration);
  require_products(scenario, gpu, calibration);
}

}  // namespace stagecraft

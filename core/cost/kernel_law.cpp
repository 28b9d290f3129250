#include "cost/kernel_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace stagecraft {
namespace {

LawTerm term(const Constant& constant, double scale) {
  return {constant.value * scale, constant.relative_error, constant.evidence};
}

// A figure that rests on two constants is no better known than the worse of them.
void rest_on(LawTerm& term, const Constant& other) {
  term.error = std::hypot(term.error, other.relative_error);
  term.evidence = std::max(term.evidence, other.evidence);
}

// 16-bit formats run at one rate; tf32 falls back to fp32.
const std::array<std::pair<Dtype, Dtype>, 4> stand_ins{
    {{Dtype::bf16, Dtype::fp16}, {Dtype::fp16, Dtype::bf16}, {Dtype::tf32, Dtype::fp32}, {Dtype::fp8, Dtype::bf16}}};

GemmLaw gemm_law(const GemmProfile& profile, double peak, Dtype dtype) {
  GemmLaw law;
  law.known = peak > 0;
  law.rate = term(profile.ceiling, peak);
  law.rate.evidence = std::max(profile.ceiling.evidence, profile.k_half.evidence);
  law.k_half = profile.k_half.value;
  law.tile_loss = profile.tile_loss.value;
  law.quantisation = profile.quantisation.value;
  law.misaligned = profile.misaligned.value;
  law.element = size_of(dtype).value;
  return law;
}

AttentionLaw attention_law(const AttentionProfile& profile, double peak, double wide_peak) {
  AttentionLaw law;
  if (peak > 0 && wide_peak > 0) law.wide = std::min(1.0, wide_peak / peak);
  law.known = peak > 0;
  law.forward = term(profile.forward, peak);
  law.backward = term(profile.backward, peak);
  law.head_dim_half = profile.head_dim_half.value;
  law.length_half = profile.length_half.value;
  law.causal_length_half = profile.causal_length_half.value;
  return law;
}

// What laws of another GPU say of this one, as fractions of its own peaks, is a guess.
constexpr double error_on_another_gpu = 0.3;

void borrow(LawTerm& term) {
  term.error = std::max(term.error, error_on_another_gpu);
  term.evidence = std::max(term.evidence, Evidence::borrowed);
}

}  // namespace

bool is_of_another_gpu(const GpuSpec& gpu, const Calibration& calibration) {
  const std::vector<std::string>& names = calibration.gpus;
  return !names.empty() && std::find(names.begin(), names.end(), gpu.name) == names.end();
}

KernelLaw kernel_law(const GpuSpec& gpu, const Calibration& calibration, bool cuda_graphs) {
  KernelLaw law;
  law.units = static_cast<double>(std::max<std::int64_t>(gpu.sms, 1));
  law.streaming = term(constant(calibration, "memory_efficiency"), gpu.memory_bandwidth.value);
  const Constant& element_wise = constant(calibration, "element_wise_efficiency");
  law.element_wise = element_wise.value;
  rest_on(law.streaming, element_wise);
  law.launch_s = term(constant(calibration, "launch_us"), cuda_graphs ? 1e-6 * graph_launch_share : 1e-6);
  if (cuda_graphs) law.launch_s.evidence = Evidence::borrowed;
  const double share = cuda_graphs ? graph_launch_share : 1;
  law.stream_launch_s = std::max(law.launch_s.value, constant(calibration, "stream_launch_us").value * 1e-6 * share);
  law.host_launch_s = cuda_graphs ? 0 : constant(calibration, "host_launch_us").value * 1e-6;
  law.gemm_beside = term(constant(calibration, "gemm_beside_collective"), 1);
  law.collective_efficiency = constant(calibration, "collective_efficiency").value;
  law.host_step_s = term(constant(calibration, "host_step_ms"), 1e-3);
  for (const auto& [dtype, profile] : calibration.gemm) {
    law.gemm[static_cast<std::size_t>(dtype)] = gemm_law(profile, peak_of(gpu, dtype), dtype);
  }
  for (const auto& [dtype, other] : stand_ins) {
    GemmLaw& missing = law.gemm[static_cast<std::size_t>(dtype)];
    if (!missing.known) missing = law.gemm[static_cast<std::size_t>(other)];
  }
  const double peak = std::max(peak_of(gpu, Dtype::bf16), peak_of(gpu, Dtype::fp16));
  for (const auto& [version, profile] : calibration.attention) {
    if (version < 1 || version > 4) throw std::invalid_argument("flash attention has versions 1 to 4");
    law.attention[static_cast<std::size_t>(version)] =
        attention_law(profile, peak, std::max(peak_of(gpu, Dtype::fp32), peak_of(gpu, Dtype::tf32)));
  }
  if (is_of_another_gpu(gpu, calibration)) {
    borrow(law.streaming);
    for (GemmLaw& gemm : law.gemm) borrow(gemm.rate);
    for (AttentionLaw& attention : law.attention) {
      borrow(attention.forward);
      borrow(attention.backward);
    }
  }
  return law;
}

}  // namespace stagecraft

#include "cost/kernel_time.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

namespace stagecraft {
namespace {

struct Tile {
  double m, n, halvings;  // log2(128 * 256 / (m * n))
};

constexpr std::array<Tile, 6> tiles{
    {{128, 256, 0}, {256, 128, 0}, {128, 128, 1}, {128, 64, 2}, {64, 128, 2}, {64, 64, 3}}};

double waves_of(double count, double units, double quantisation) {
  const double even = count / units;
  return quantisation * std::ceil(even) + (1 - quantisation) * std::max(1.0, even);
}

// Seconds of the products if memory were free, at a rate of one FLOP/s per unit.
double tiled_work(const Kernel& kernel, const GemmLaw& law, double units) {
  const double m = static_cast<double>(kernel.m), n = static_cast<double>(kernel.n);
  const double k = static_cast<double>(kernel.k), batch = static_cast<double>(kernel.batch);
  double best = 0;
  double rate = 1;
  double halvings = 0;
  for (const Tile& tile : tiles) {
    while (halvings < tile.halvings) {
      rate *= law.tile_loss;
      ++halvings;
    }
    const double count = batch * std::ceil(m / tile.m) * std::ceil(n / tile.n);
    const double work =
        waves_of(count, units, law.quantisation) * units * 2 * tile.m * tile.n * (k + law.k_half) / rate;
    if (best == 0 || work < best) best = work;
  }
  return best;
}

bool is_aligned(const Kernel& kernel, double element) {
  const auto whole = [&](std::int64_t row) { return std::fmod(static_cast<double>(row) * element, 16) == 0; };
  return whole(kernel.n) && whole(kernel.k);
}

TimeEstimate interval(double seconds, double error, Evidence evidence) {
  return {{seconds}, {seconds * (1 - error)}, {seconds * (1 + error)}, evidence};
}

double launches_s(const Kernel& kernel, const KernelLaw& law) {
  return (kernel.among_streams ? law.stream_launch_s : law.launch_s.value) * kernel.launches;
}

// Of the speed of products with one scale per operand, what those with a scale per row reach on H100: "most shapes are
// within 90-100 %" (github.com/pytorch/pytorch/issues/147971), some less.
constexpr double row_wise_speed = 0.95, row_wise_error = 0.05;

TimeEstimate gemm_time(const Kernel& kernel, const KernelLaw& law) {
  const GemmLaw& gemm = law.gemm[static_cast<std::size_t>(kernel.dtype)];
  if (!gemm.known) throw std::invalid_argument("no GEMM law for " + to_text(kernel.dtype));
  const bool shaped = kernel.m > 0 && kernel.n > 0 && kernel.k > 0;
  double compute = kernel.flops.value / gemm.rate.value;
  if (shaped) {
    compute = tiled_work(kernel, gemm, law.units) / gemm.rate.value;
    if (!is_aligned(kernel, gemm.element)) compute /= gemm.misaligned;
  }
  if (kernel.row_wise) compute /= row_wise_speed;
  const double memory = kernel.bytes.value / law.streaming.value;
  const double launch = launches_s(kernel, law);
  const bool by_memory = memory > compute;
  LawTerm governs = by_memory ? law.streaming : gemm.rate;
  if (kernel.row_wise && !by_memory) governs = {0, std::hypot(governs.error, row_wise_error), Evidence::borrowed};
  return interval(launch + std::sqrt(compute * compute + memory * memory), governs.error, governs.evidence);
}

TimeEstimate attention_time(const Kernel& kernel, const KernelLaw& law) {
  const AttentionLaw& flash = law.attention[static_cast<std::size_t>(kernel.flash_version)];
  if (!flash.known) throw std::invalid_argument("no law for this version of flash attention");
  const LawTerm& rate = kernel.backward ? flash.backward : flash.forward;
  const double d = static_cast<double>(kernel.k), length = static_cast<double>(kernel.n);
  const double half = kernel.causal ? flash.causal_length_half : flash.length_half;
  const bool is_wide = kernel.dtype == Dtype::fp32 || kernel.dtype == Dtype::tf32;
  const double reached =
      rate.value * (is_wide ? flash.wide : 1) * d / (d + flash.head_dim_half) * length / (length + half);
  constexpr double rows = 128;
  const double blocks = static_cast<double>(kernel.batch) * std::ceil(static_cast<double>(kernel.m) / rows);
  const double even = blocks / law.units;
  const double compute = kernel.flops.value / reached * waves_of(blocks, law.units, 1) / even;
  const double memory = kernel.bytes.value / law.streaming.value;
  return interval(launches_s(kernel, law) + std::max(compute, memory), rate.error, rate.evidence);
}

TimeEstimate memory_time(const Kernel& kernel, const KernelLaw& law) {
  const double rate = law.streaming.value * law.element_wise;
  return interval(launches_s(kernel, law) + kernel.bytes.value / rate, law.streaming.error, law.streaming.evidence);
}

}  // namespace

TimeEstimate kernel_time(const Kernel& kernel, const KernelLaw& law) {
  switch (kernel.kind) {
    case KernelKind::gemm:
      return gemm_time(kernel, law);
    case KernelKind::attention:
      return attention_time(kernel, law);
    case KernelKind::host:
      return interval(law.host_step_s.value, law.host_step_s.error, law.host_step_s.evidence);
    case KernelKind::host_adam:  // the run states the rate
      return interval(law.host_adam_s * static_cast<double>(kernel.k), 0.3, Evidence::borrowed);
    case KernelKind::loading:
      return interval(law.data_loading_s, 0, Evidence::measured);
    case KernelKind::collection:  // the run states the pauses; when they fall is chance
      return interval(law.collection_s, 0.5, Evidence::borrowed);
    case KernelKind::host_sync:  // as long as a launch until the host goes on
      return interval(law.host_launch_s, 0.5, Evidence::borrowed);
    case KernelKind::memory:
      break;
  }
  return memory_time(kernel, law);
}

TimeEstimate kernel_time(const Kernel& kernel, const GpuSpec& gpu, const Calibration& calibration) {
  return kernel_time(kernel, kernel_law(gpu, calibration));
}

double efficiency_of(const Kernel& kernel, const GpuSpec& gpu, const Calibration& calibration) {
  const auto peak = gpu.peak.find(kernel.dtype);
  if (kernel.flops.value <= 0 || peak == gpu.peak.end()) return 0;
  return kernel.flops / kernel_time(kernel, gpu, calibration).expected / peak->second;
}

}  // namespace stagecraft

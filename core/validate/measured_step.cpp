// What was measured of one step, by class of kernel.

#include <algorithm>
#include <cmath>

#include "base/input_error.hpp"
#include "validate/kernel_fit.hpp"
#include "validate/least_squares.hpp"

namespace stagecraft {
namespace {

constexpr double longest_gap_s = 50e-6;
constexpr double z90 = 1.6448536269514722;  // of the normal distribution, two-sided 90 %

/// The median and, by the binomial distribution of ranks, its 90 % interval.
void take_launch(std::vector<double> gaps_s, MeasuredStep& step) {
  std::erase_if(gaps_s, [](double gap) { return gap > longest_gap_s; });
  if (gaps_s.empty()) return;
  std::sort(gaps_s.begin(), gaps_s.end());
  const double n = static_cast<double>(gaps_s.size());
  const double half = z90 * std::sqrt(n) / 2;
  const auto at = [&](double place) { return gaps_s[static_cast<std::size_t>(std::clamp(place, 0.0, n - 1))]; };
  step.launch_s = (at((n - 1) / 2) + at(n / 2)) / 2;
  step.launch_interval = {at((n - 1) / 2 - half), at(n / 2 + half)};
}

ClassTime& class_of(MeasuredStep& step, KernelClass kind) {
  return step.classes[static_cast<std::size_t>(kind)];
}

KernelClass class_of(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelKind::gemm:
      return KernelClass::gemm;
    case KernelKind::attention:
      return kernel.backward ? KernelClass::attention_backward : KernelClass::attention_forward;
    case KernelKind::memory:
      return KernelClass::memory;
    case KernelKind::host:
    case KernelKind::host_adam:
    case KernelKind::loading:
    case KernelKind::collection:
    case KernelKind::host_sync:
      break;
  }
  return KernelClass::unknown;
}

}  // namespace

MeasuredStep measured_step(const KernelTotals& totals, double steps) {
  MeasuredStep step;
  step.source = totals.file;
  std::array<double, kernel_class_count> squares{};
  for (const KernelTotal& kernel : totals.kernels) {
    const KernelNamed named = class_of_kernel(kernel.name);
    ClassTime& time = class_of(step, named.kernel_class);
    time.seconds += kernel.seconds / steps;
    if (named.is_main) time.count += static_cast<double>(kernel.count) / steps;
    if (named.kernel_class == KernelClass::unknown) step.unknown.emplace_back(kernel.name, kernel.seconds / steps);
    // A sum of n times has n times their variance.
    const double n = static_cast<double>(kernel.count);
    if (n > 1) squares[static_cast<std::size_t>(named.kernel_class)] += kernel.squared_spread / (n - 1) * n;
  }
  for (const KernelClass kind : kernel_classes) {
    ClassTime& time = class_of(step, kind);
    if (time.seconds > 0)
      time.error = z90 * std::sqrt(squares[static_cast<std::size_t>(kind)]) / (time.seconds * steps);
  }
  std::stable_sort(step.unknown.begin(), step.unknown.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  take_launch(totals.gaps_s, step);
  return step;
}

MeasuredStep measured_step(StepWork& work, const GpuSpec& gpu, const Calibration& profile) {
  MeasuredStep step;
  step.source = profile.hardware;
  step.complete = false;
  const double launch_s = kernel_law(gpu, profile).launch_s.value;
  std::array<double, kernel_class_count> doubt{};
  const auto found_of = [&](const StepKernel& kernel) -> const MeasuredKernel* {
    const MeasuredKernel wanted = key_of(kernel);
    const auto at = std::lower_bound(profile.measured.begin(), profile.measured.end(), wanted, comes_before);
    return at == profile.measured.end() || comes_before(wanted, *at) ? nullptr : &*at;
  };
  std::erase_if(work.kernels, [&](const StepKernel& kernel) {
    return class_of(kernel.kernel) == KernelClass::unknown || found_of(kernel) == nullptr;
  });
  for (const StepKernel& kernel : work.kernels) {
    const MeasuredKernel& found = *found_of(kernel);
    const KernelClass kind = class_of(kernel.kernel);
    ClassTime& time = class_of(step, kind);
    const double seconds = kernel.count * (found.seconds - launch_s * kernel.kernel.launches);
    time.seconds += seconds;
    time.count += kernel.count * kernel.kernel.launches;
    doubt[static_cast<std::size_t>(kind)] += kernel.count * found.seconds * found.relative_error;
  }
  if (work.kernels.empty()) {
    throw InputError(InputProblem{profile.hardware, 0, 0, "/measured", "no kernel of this scenario",
                                  "what `stagecraft profile` wrote of this scenario", ""});
  }
  for (const KernelClass kind : kernel_classes) {
    ClassTime& time = class_of(step, kind);
    if (time.seconds > 0) time.error = doubt[static_cast<std::size_t>(kind)] / time.seconds;
  }
  work.communications = work.communication_s = work.copies = work.copies_s = 0;  // the file holds laws of these
  return step;
}

}  // namespace stagecraft

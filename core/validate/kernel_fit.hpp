#pragma once
// The efficiencies of a hardware profile, fitted to kernel times of one training step of a scenario.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/kernel_class.hpp"
#include "trace/kernel_totals.hpp"
#include "validate/profile_text.hpp"
#include "validate/step_work.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

/// Kernels of one class in one step of one GPU. Times are those of the kernels alone, without the launch that the laws
/// count with each.
struct ClassTime {
  double seconds = 0, count = 0;
  double error = 0;  // half width of the 90 % interval of `seconds`, as a fraction: how well repetitions agree
};

struct MeasuredStep {
  std::string source;
  std::array<ClassTime, kernel_class_count> classes{};  // [KernelClass]
  std::optional<double> launch_s;                       // from the end of a kernel to the begin of the next
  Interval launch_interval;                             // 90 %, of it
  std::vector<std::pair<std::string, double>> unknown;  // names that fit no class, seconds per step, longest first
  bool complete = true;  // false: only the shapes that were measured; `work` is cut to them
};

/// The launch is the median of the gaps up to 50 us; longer ones wait for something.
MeasuredStep measured_step(const KernelTotals& totals, double steps);

/// The kernel times that a calibration holds ("measured", by `stagecraft profile`) of a step. `work` loses the kernels
/// that it has none of. Throws InputError if it has none at all.
MeasuredStep measured_step(StepWork& work, const GpuSpec& gpu, const Calibration& profile);

struct ClassFit {
  KernelClass kernel_class = KernelClass::unknown;
  ClassTime predicted, measured;
  double fitted_s = 0;
};

struct EfficiencyFit {
  std::vector<std::string> names;  // of list_constants: the same factor for all of them
  double before = 0, after = 0;    // of the first
  Interval interval;               // 90 %, by the repetitions
  std::string kept;                // why it stays as it was; "": it does not
};

struct KernelFit {
  std::vector<ClassFit> classes;  // those with any time, in the order of KernelClass
  std::vector<EfficiencyFit> constants;
  /// Where the kernels cover another amount of work than the scenario: counts of GEMMs and of attention that differ by
  /// more than a twentieth.
  std::vector<std::string> other_work;
  Calibration fitted;
  ProfileDraft profile;
};

/// One constant per class, in this order: launch_us from the gaps; memory_efficiency; one factor for the ceilings of
/// the dtypes that the scenario's GEMMs use; attention forward and backward. Each takes the value at which the law's
/// sum over the step is what was measured. A constant is kept where its class was not measured, where no value gives
/// that sum, or where it would exceed 1.25 (no fraction does).
KernelFit fit_kernels(const StepWork& work, const GpuSpec& gpu, bool cuda_graphs, const Calibration& calibration,
                      const MeasuredStep& step);

}  // namespace stagecraft

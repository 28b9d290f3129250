#include "validate/kernel_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

constexpr double most_fraction = 1.25;     // that a profile may hold
constexpr double tolerated_counts = 0.05;  // split and fused GEMMs

struct Fitter {
  const StepWork& work;
  const GpuSpec& gpu;
  bool cuda_graphs;
  const MeasuredStep& step;
  KernelFit& fit;

  const ClassTime& measured(KernelClass kind) const { return step.classes[static_cast<std::size_t>(kind)]; }

  ClassTime predicted(KernelClass kind, const Calibration& calibration) const {
    const KernelLaw law = kernel_law(gpu, calibration, cuda_graphs);
    ClassTime time;
    for (const StepKernel& one : work.kernels) {
      if (!is_of(one.kernel, kind)) continue;
      const double launches_s = law.launch_s.value * one.kernel.launches;
      time.seconds += one.count * (kernel_time(one.kernel, law).expected.value - launches_s);
      time.count += one.count * one.kernel.launches;
    }
    if (kind == KernelClass::communication) time = {work.communication_s, work.communications, 0};
    if (kind == KernelClass::copy) time = {work.copies_s, work.copies, 0};
    return time;
  }

  static bool is_of(const Kernel& kernel, KernelClass kind) {
    switch (kind) {
      case KernelClass::gemm:
        return kernel.kind == KernelKind::gemm;
      case KernelClass::attention_forward:
        return kernel.kind == KernelKind::attention && !kernel.backward;
      case KernelClass::attention_backward:
        return kernel.kind == KernelKind::attention && kernel.backward;
      case KernelClass::memory:
        return kernel.kind == KernelKind::memory;
      case KernelClass::communication:
      case KernelClass::copy:
      case KernelClass::unknown:
        break;
    }
    return false;
  }

  /// Those of the names that the class's time moves with.
  std::vector<std::string> that_matter(KernelClass kind, const std::vector<std::string>& names) const {
    const double before = predicted(kind, fit.fitted).seconds;
    std::vector<std::string> matter;
    for (const std::string& name : names) {
      Calibration moved = fit.fitted;
      find(moved, name).value *= 1.01;
      if (std::abs(predicted(kind, moved).seconds - before) > 1e-9 * before) matter.push_back(name);
    }
    return matter;
  }

  static Constant& find(Calibration& calibration, const std::string& name) {
    const std::vector<std::string> keys = profile_keys(name);
    if (keys[0] == "constants") return calibration.constants.at(keys[1]);
    if (keys[0] == "gemm") {
      for (auto& [dtype, law] : calibration.gemm) {
        if (to_text(dtype) == keys[1]) return law.ceiling;
      }
    }
    AttentionProfile& law = calibration.attention.at(keys[1].back() - '0');
    return keys[2] == "forward" ? law.forward : law.backward;
  }

  void keep(EfficiencyFit constant, const std::string& why) const {
    constant.after = constant.before;
    constant.kept = why;
    fit.constants.push_back(std::move(constant));
  }

  void take(EfficiencyFit constant, double factor, double error) const {
    constant.interval = {constant.after / (1 + error), constant.after / std::max(0.1, 1 - error)};
    for (const std::string& name : constant.names) {
      Constant& value = find(fit.fitted, name);
      value.value *= factor;
      value.relative_error = std::clamp(std::max(value.relative_error, error), 0.001, 1.0);
      value.evidence = Evidence::measured;
      value.source = fmt::format("kernel times of one step: {}; fitted by stagecraft calibrate", step.source);
      fit.profile.constants.emplace_back(name, value);
    }
    fit.constants.push_back(std::move(constant));
  }

  /// Finds the factor at which the class takes what was measured; time falls as the factor grows.
  void efficiency(KernelClass kind, const std::vector<std::string>& all) const {
    const ClassTime before = predicted(kind, fit.fitted), seen = measured(kind);
    if (before.seconds <= 0 && seen.seconds <= 0) return;
    EfficiencyFit constant;
    constant.names = before.seconds > 0 ? that_matter(kind, all) : std::vector<std::string>{};
    if (constant.names.empty()) {
      if (!all.empty()) constant.names = {all.front()};
      if (constant.names.empty()) return;
      constant.before = find(fit.fitted, constant.names.front()).value;
      return keep(std::move(constant), "the scenario has no kernel whose time rests on it");
    }
    constant.before = find(fit.fitted, constant.names.front()).value;
    if (seen.seconds <= 0) return keep(std::move(constant), "none of its kernels were measured");
    const auto seconds_with = [&](double factor) {
      Calibration moved = fit.fitted;
      for (const std::string& name : constant.names) find(moved, name).value *= factor;
      return predicted(kind, moved).seconds;
    };
    double low = 1e-3, high = 1e3;
    if (!(seconds_with(high) < seen.seconds && seconds_with(low) > seen.seconds)) {
      return keep(std::move(constant), "no value of it gives the measured time: the bytes alone take longer");
    }
    for (int i = 0; i < 80; ++i) {
      const double middle = std::sqrt(low * high);
      (seconds_with(middle) > seen.seconds ? low : high) = middle;
    }
    const double factor = std::sqrt(low * high);
    for (const std::string& name : constant.names) {
      const double would = find(fit.fitted, name).value * factor;
      if (would > most_fraction)
        return keep(std::move(constant), fmt::format("{} would be {:.3g}, which no kernel reaches", name, would));
    }
    constant.after = constant.before * factor;
    take(std::move(constant), factor, seen.error);
  }

  void launch() const {
    EfficiencyFit constant{{"constants/launch_us"}, 0, 0, {}, ""};
    constant.before = find(fit.fitted, constant.names.front()).value;
    if (!step.launch_s) return keep(std::move(constant), "the file does not say when kernels ran");
    if (cuda_graphs) return keep(std::move(constant), "a CUDA graph launches the kernels");
    constant.after = *step.launch_s * 1e6;
    if (constant.after <= 0) return keep(std::move(constant), "kernels follow each other without a gap");
    const Interval& width = step.launch_interval;
    const double error = (width.high - width.low) / 2 / *step.launch_s;
    take(constant, constant.after / constant.before, std::min(error, 1.0));
    fit.constants.back().interval = {width.low * 1e6, width.high * 1e6};
  }

  void ranges() const {
    MeasuredRange k, length;
    const auto widen = [](MeasuredRange& range, std::int64_t value) {
      const double at = static_cast<double>(value);
      range = range.stated() ? MeasuredRange{std::min(range.min, at), std::max(range.max, at)} : MeasuredRange{at, at};
    };
    for (const StepKernel& one : work.kernels) {
      if (one.kernel.kind == KernelKind::gemm && one.kernel.k > 0) widen(k, one.kernel.k);
      if (one.kernel.kind == KernelKind::attention) widen(length, one.kernel.n);
    }
    for (const auto& [name, constant] : fit.profile.constants) {
      const std::vector<std::string> keys = profile_keys(name);
      const std::string law = keys.size() == 3 ? keys[0] + "/" + keys[1] + "/" : "";
      if (keys[0] == "gemm" && k.stated()) fit.profile.ranges[law + "measured_k"] = k;
      if (keys[0] == "attention" && length.stated()) fit.profile.ranges[law + "measured_length"] = length;
    }
    for (auto& [dtype, law] : fit.fitted.gemm) {
      if (fit.profile.ranges.contains("gemm/" + to_text(dtype) + "/measured_k")) law.k = k;
    }
    for (auto& [version, law] : fit.fitted.attention) {
      if (fit.profile.ranges.contains(fmt::format("attention/flash_{}/measured_length", version))) law.length = length;
    }
  }

  void compare_work() const {
    for (const KernelClass kind :
         {KernelClass::gemm, KernelClass::attention_forward, KernelClass::attention_backward}) {
      const double expected = predicted(kind, fit.fitted).count, seen = measured(kind).count;
      if (std::abs(seen - expected) <= tolerated_counts * expected) continue;
      fit.other_work.push_back(
          fmt::format("{}: {:.6g} kernels a step, the scenario has {:.6g}", to_text(kind), seen, expected));
    }
  }
};

}  // namespace

KernelFit fit_kernels(const StepWork& work, const GpuSpec& gpu, bool cuda_graphs, const Calibration& calibration,
                      const MeasuredStep& step) {
  KernelFit fit;
  fit.fitted = calibration;
  const Fitter fitter{work, gpu, cuda_graphs, step, fit};
  fitter.compare_work();
  std::vector<std::string> ceilings, forward, backward;
  for (const auto& [dtype, law] : calibration.gemm) ceilings.push_back("gemm/" + to_text(dtype) + "/ceiling");
  for (const auto& [version, law] : calibration.attention) {
    forward.push_back(fmt::format("attention/flash_{}/forward", version));
    backward.push_back(fmt::format("attention/flash_{}/backward", version));
  }
  fitter.launch();
  fitter.efficiency(KernelClass::memory, {"constants/memory_efficiency"});
  fitter.efficiency(KernelClass::gemm, ceilings);
  fitter.efficiency(KernelClass::attention_forward, forward);
  fitter.efficiency(KernelClass::attention_backward, backward);
  fitter.ranges();
  for (const KernelClass kind : kernel_classes) {
    const ClassFit one{kind, fitter.predicted(kind, calibration), fitter.measured(kind),
                       fitter.predicted(kind, fit.fitted).seconds};
    if (one.predicted.seconds > 0 || one.measured.seconds > 0) fit.classes.push_back(one);
  }
  fit.profile.extends = calibration.hardware;
  fit.profile.gpus = fit.fitted.gpus = {gpu.name};
  fit.profile.description = fmt::format("{}, its kernels fitted to {}", calibration.hardware, step.source);
  return fit;
}

}  // namespace stagecraft

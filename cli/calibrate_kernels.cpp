// Efficiencies of kernels from a profile of one real step, or from what `stagecraft profile` measured.

#include <fmt/format.h>

#include <algorithm>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "base/refusal.hpp"
#include "calibrate_sources.hpp"
#include "command_line.hpp"
#include "planned.hpp"
#include "validate/kernel_fit.hpp"

namespace stagecraft::cli {
namespace {

struct Step : Planned {
  Schedule schedule;
};

Step prepare(const KernelSource& source, const Library& library) {
  Step step{plan_scenario(source.scenario, source.overrides, library,
                          source.profile.empty() ? source.calibration : source.profile),
            {}};
  step.schedule = lowered_schedule(step);
  return step;
}

PipelineRank rank_of(const KernelSource& source, const KernelTotals& totals, const Plan& plan) {
  if (source.pipeline_rank >= plan.degrees.pipeline) {
    throw UsageError(fmt::format("--pipeline-rank {}: the scenario has the pipeline ranks 0 to {}",
                                 source.pipeline_rank, plan.degrees.pipeline - 1));
  }
  if (source.pipeline_rank >= 0) return PipelineRank{source.pipeline_rank};
  if (!totals.rank) return PipelineRank{0};
  const std::int64_t ranks = world_size(plan.degrees);
  if (*totals.rank >= ranks) {
    throw InputError(InputProblem{totals.file, 0, 0, "/distributedInfo/rank", fmt::format("{}", *totals.rank),
                                  fmt::format("a rank of the scenario's {}, or --pipeline-rank", ranks), ""});
  }
  return PipelineRank{coordinates_of(plan.degrees, Rank{*totals.rank}).pipeline};
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.3f}", seconds * 1e3);
}

std::string classes_text(const KernelFit& fit, const MeasuredStep& step) {
  std::string out = fmt::format("\n  {:<22}{:>21}{:>14}{:>14}{:>11}{:>14}{:>11}\n", "ms per step",
                                "kernels pred. / meas.", "predicted", "measured", "residual", "fitted", "residual");
  double all = 0;
  for (const ClassFit& one : fit.classes) {
    const double seen = one.measured.seconds;
    const auto residual = [&](double predicted) {
      return seen > 0 && predicted > 0 ? fmt::format("{:+.1f} %", 100 * (predicted / seen - 1)) : std::string("-");
    };
    out += fmt::format("  {:<22}{:>21}{:>14}{:>14}{:>11}{:>14}{:>11}\n", to_text(one.kernel_class),
                       fmt::format("{:.6g} / {:.6g}", one.predicted.count, one.measured.count),
                       milliseconds(one.predicted.seconds), milliseconds(seen), residual(one.predicted.seconds),
                       milliseconds(one.fitted_s), residual(one.fitted_s));
    all += seen;
  }
  if (step.complete) {
    out += "  Communication and copies are not fitted: their kernels wait for other ranks; see --nccl-tests.\n";
  }
  double unknown = 0;
  for (const auto& [name, seconds] : step.unknown) unknown += seconds;
  if (unknown <= 0) return out;
  out += fmt::format("\nOf no known class: {} ms, {:.1f} % of the time of all kernels\n", milliseconds(unknown),
                     100 * unknown / all);
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, step.unknown.size()); ++i) {
    out += fmt::format("  {:>10} ms  {}\n", milliseconds(step.unknown[i].second), step.unknown[i].first.substr(0, 120));
  }
  if (step.unknown.size() > shown) out += fmt::format("  and {} more names\n", step.unknown.size() - shown);
  return out;
}

std::string constants_text(const KernelFit& fit) {
  std::string out = "\nConstants\n";
  for (const EfficiencyFit& one : fit.constants) {
    const std::string names = fmt::format("{}", fmt::join(one.names, ", "));
    if (!one.kept.empty()) {
      out += fmt::format("  {:<44} {:.4g} stays: {}\n", names, one.before, one.kept);
      continue;
    }
    out += fmt::format("  {:<44} {:.4g} -> {:.4g}   90 % interval by repetition {:.4g} to {:.4g}\n", names, one.before,
                       one.after, one.interval.low, one.interval.high);
  }
  for (const auto& [name, range] : fit.profile.ranges) {
    out += fmt::format("  {}: {:.0f} to {:.0f}; outside, predictions count as borrowed and reports say so\n", name,
                       range.min, range.max);
  }
  return out;
}

}  // namespace

Calibrated calibrate_kernels(const KernelSource& source, const Console& console) {
  const Library library = default_library(console.executable);
  const Step step = prepare(source, library);
  KernelTotals totals;
  if (!source.kineto.empty()) totals = read_kineto_kernels(source.kineto);
  if (!source.nsys.empty()) totals = read_nsys_kernels(read_file(source.nsys), source.nsys);
  // A profile by `stagecraft profile` is of every layer, whichever rank holds it.
  const bool of_all = !source.profile.empty() && source.pipeline_rank < 0;
  const PipelineRank rank = of_all ? PipelineRank{0} : rank_of(source, totals, step.plan);
  StepWork work = step_work(step.plan, step.schedule, step.costs, step.topology, rank);
  for (std::int32_t other = 1; of_all && other < step.plan.degrees.pipeline; ++other) {
    const StepWork more = step_work(step.plan, step.schedule, step.costs, step.topology, PipelineRank{other});
    work.kernels.insert(work.kernels.end(), more.kernels.begin(), more.kernels.end());
  }
  const std::int64_t steps = source.steps > 0 ? source.steps : std::max<std::int64_t>(totals.steps, 1);
  const GpuSpec& gpu = step.plan.gpu;
  const MeasuredStep measured = source.profile.empty() ? measured_step(totals, static_cast<double>(steps))
                                                       : measured_step(work, gpu, step.costs.calibration);
  const KernelFit fit = fit_kernels(work, gpu, step.plan.run.cuda_graphs, step.costs.calibration, measured);
  if (!fit.other_work.empty() && !source.other_work) {
    throw InputError(InputProblem{measured.source, 0, 0, "", fmt::format("{}", fmt::join(fit.other_work, "; ")),
                                  "one step of this scenario's pipeline rank (--steps, --pipeline-rank, or "
                                  "--allow-different-work to fit all the same)",
                                  ""});
  }
  const std::string whose = of_all ? "all pipeline ranks" : fmt::format("pipeline rank {}", rank.value);
  const std::string seen = source.profile.empty()
                               ? fmt::format("{} step{} in {}", steps, steps == 1 ? "" : "s", measured.source)
                               : "the shapes in " + measured.source;
  std::string text = fmt::format("{}, {}: kernels of {}, predicted by {}\n", step.scenario.name, whose, seen,
                                 step.costs.calibration.name);
  for (const std::string& other : fit.other_work) text += "  other work than the scenario's: " + other + "\n";
  text += classes_text(fit, measured) + constants_text(fit);
  if (source.profile.empty() && !step.costs.calibration.measured.empty())
    text += "  Shapes that the calibration holds measured times of keep them.\n";
  return {std::move(text), fit.profile};
}

}  // namespace stagecraft::cli

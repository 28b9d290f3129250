#include "memory_advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/input_error.hpp"
#include "base/refusal.hpp"
#include "estimate/estimate.hpp"
#include "memory/host_memory.hpp"
#include "plan/plan.hpp"
#include "planned.hpp"
#include "schedule/check.hpp"

namespace stagecraft::cli {
namespace {

using Overrides = std::vector<std::string>;

struct Tried {
  bool fits = false;
  Bytes peak;
  double step_s = 0;
};

/// None if the scenario cannot run for other reasons than memory.
std::optional<Tried> try_out(const std::string& file, const Overrides& overrides, const Library& library) {
  try {
    Planned planned = plan_scenario(file, overrides, library);
    const auto& [scenario, findings, topology, plan, costs] = planned;
    const Schedule schedule = lowered_schedule(planned);
    Tried tried;
    tried.fits = host_memory(plan, schedule, scenario.cluster).fits();
    for (const MemoryPeak& peak : memory_peaks(plan, schedule)) {
      tried.fits = tried.fits && fits(peak);
      tried.peak = std::max(tried.peak, peak.peak);
    }
    const Graph graph = make_graph(schedule);
    tried.step_s = estimate(plan, schedule, graph, costs, topology, steps_until_steady(schedule)).step_time.value;
    return tried;
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

/// Changes of one kind, the smallest first.
using Kind = std::vector<Overrides>;

std::string set(const char* path, std::int64_t value) {
  return fmt::format("{}={}", path, value);
}

Kind smaller_micro_batches(const RunSpec& run) {
  Kind kind;
  for (std::int64_t micro = run.batch.micro - 1; micro >= 1; --micro) {
    const bool divides = run.batch.global % (micro * run.parallel.data) == 0;
    if (divides) kind.push_back({set("batch.micro", micro)});
  }
  return kind;
}

Kind more_recompute(const RunSpec& run) {
  Kind kind;
  if (run.recompute == Recompute::none) kind.push_back({"recompute=selective"});
  if (run.recompute != Recompute::full) {
    for (const std::int64_t every : {4, 2}) {
      kind.push_back({"recompute=full", "recompute_scope=every_kth", set("recompute_blocks", every)});
    }
  }
  const bool all = run.recompute == Recompute::full && run.recompute_scope == RecomputeScope::every_block;
  if (!all) kind.push_back({"recompute=full", "recompute_scope=every_block"});
  return kind;
}

Kind higher_zero(const RunSpec& run) {
  Kind kind;
  for (std::int64_t stage = run.zero_stage + 1; stage <= 3; ++stage) kind.push_back({set("zero_stage", stage)});
  return kind;
}

/// A degree doubled, quadrupled, ... at the cost of data ranks.
Kind larger_degree(const RunSpec& run, const char* path, std::int64_t degree) {
  Kind kind;
  for (std::int64_t factor = 2; run.parallel.data % factor == 0 && factor <= 64; factor *= 2) {
    kind.push_back({set(path, degree * factor), set("parallel.data", run.parallel.data / factor)});
  }
  return kind;
}

Kind offloads(const RunSpec& run) {
  Kind kind;
  if (run.offload.optimizer == Home::gpu) kind.push_back({"offload.optimizer=host"});
  if (run.offload.activations == Home::gpu) kind.push_back({"offload.activations=host"});
  return kind;
}

std::vector<Kind> kinds_of_change(const Scenario& scenario) {
  const RunSpec& run = scenario.run;
  std::vector<Kind> kinds = {smaller_micro_batches(run), more_recompute(run), higher_zero(run),
                             larger_degree(run, "parallel.tensor", run.parallel.tensor),
                             larger_degree(run, "parallel.pipeline", run.parallel.pipeline)};
  for (const Overrides& offload : offloads(run)) kinds.push_back({offload});
  if (run.optimizer == Optimizer::adam) kinds.push_back({{"optimizer=adam_8bit"}});
  return kinds;
}

}  // namespace

std::vector<Advice> advise(const std::string& file, const Overrides& overrides, const Library& library) {
  std::vector<Advice> advice;
  const std::optional<Tried> now = try_out(file, overrides, library);
  if (!now) return advice;
  for (const Kind& kind : kinds_of_change(load_scenario(file, overrides, library))) {
    for (const Overrides& change : kind) {
      Overrides all = overrides;
      all.insert(all.end(), change.begin(), change.end());
      const std::optional<Tried> tried = try_out(file, all, library);
      if (!tried || !tried->fits) continue;
      advice.push_back({change, tried->peak, tried->step_s, tried->step_s / now->step_s - 1});
      break;
    }
  }
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) { return a.step_s < b.step_s; });
  return advice;
}

}  // namespace stagecraft::cli

#include "search/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/refusal.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/estimate.hpp"
#include "schedule/lower.hpp"
#include "search/sensitivity.hpp"

namespace stagecraft {
namespace {

constexpr double farthest = 16;

struct Knob {
  const char* what;
  const char* of;
  std::function<void(SearchContext&, double)> turn;
};

void scale_network(SearchContext& context, double factor) {
  FabricSpec& fabric = context.scenario.cluster.fabric;
  fabric.nic_nominal = fabric.nic_nominal * factor;
  fabric.nic_achieved = fabric.nic_achieved * factor;
  context.topology = build_topology(context.scenario.cluster);
}

std::vector<Knob> knobs(const SearchContext& context) {
  std::vector<Knob> list{{"efficiency", "of what the calibration's kernels achieve",
                          [](SearchContext& changed, double factor) { scale_efficiency(changed.calibration, factor); }},
                         {"bandwidth", "of the rate of all links, in nodes and between them", scale_bandwidth}};
  if (context.scenario.cluster.nodes > 1)
    list.push_back({"bandwidth of the network", "of the rate of every NIC", scale_network});
  return list;
}

double step_at(const SearchContext& context, const Knob& knob, double factor) {
  SearchContext changed = context;
  knob.turn(changed, factor);
  return step_of_scenario_s(changed);
}

/// A larger factor never makes a step longer, so bisection finds where it is as long as measured.
Solution solve(const SearchContext& context, const Knob& knob, double step_s) {
  Solution solution{knob.what, std::nullopt, "", 0};
  double low = 1 / farthest, high = farthest;
  const double slowest = step_at(context, knob, low), fastest = step_at(context, knob, high);
  if (step_s > slowest || step_s < fastest) {
    const bool too_fast = step_s < fastest;
    solution.step_s = too_fast ? fastest : slowest;
    solution.meaning =
        fmt::format("no value explains it: {:g} times as much gives {:.6g} s", too_fast ? high : low, solution.step_s);
    return solution;
  }
  if (slowest - fastest <= 1e-9 * step_s) {
    solution.step_s = fastest;
    solution.meaning = "it changes nothing in this run";
    return solution;
  }
  for (int i = 0; i < 60 && high / low > 1 + 1e-7; ++i) {
    const double middle = std::sqrt(low * high);
    (step_at(context, knob, middle) > step_s ? low : high) = middle;
  }
  solution.factor = std::sqrt(low * high);
  solution.step_s = step_at(context, knob, *solution.factor);
  solution.meaning = fmt::format("{:.4g} times {}", *solution.factor, knob.of);
  return solution;
}

/// Every micro-batch size that divides, same global batch; the one that comes nearest.
Solution solve_micro_batches(const SearchContext& context, double step_s) {
  Solution solution{"micro-batches", std::nullopt, "no other number of micro-batches runs", 0};
  const BatchSpec& batch = context.scenario.run.batch;
  const std::int64_t per_rank = batch.global / context.scenario.run.parallel.data;
  SearchContext changed = context;
  for (std::int64_t micro = 1; micro <= std::min<std::int64_t>(per_rank, 256); ++micro) {
    if (per_rank % micro != 0) continue;
    changed.scenario.run.batch.micro = micro;
    if (has_errors(check_feasible(changed.scenario))) continue;
    double found = 0;
    try {
      found = step_of_scenario_s(changed);
    } catch (const Refusal&) {
      continue;
    }
    if (solution.factor && std::abs(found - step_s) >= std::abs(solution.step_s - step_s)) continue;
    solution.factor = static_cast<double>(per_rank / micro);
    solution.step_s = found;
    solution.meaning = fmt::format("{} micro-batches of {} come nearest: {:.6g} s, {:+.1f} %", per_rank / micro, micro,
                                   found, 100 * (found / step_s - 1));
  }
  return solution;
}

}  // namespace

double step_of_scenario_s(const SearchContext& context) {
  Scenario scenario = context.scenario;
  balance_partition(scenario, context.topology, context.calibration);
  const Plan plan = make_plan(scenario);
  const CostModel costs = make_cost_model(plan, context.topology, context.calibration);
  Findings notes;
  const Schedule schedule = lower(compute_schedule(scenario, plan, costs, context.topology, notes), plan);
  const std::int32_t steps = std::max(static_cast<std::int32_t>(plan.run.steps), steps_until_steady(schedule));
  return estimate(plan, schedule, make_graph(schedule), costs, context.topology, steps).step_time.value;
}

std::vector<Solution> solve_for_step_time(const SearchContext& context, double step_s) {
  std::vector<Solution> solutions;
  for (const Knob& knob : knobs(context)) solutions.push_back(solve(context, knob, step_s));
  solutions.push_back(solve_micro_batches(context, step_s));
  return solutions;
}

}  // namespace stagecraft

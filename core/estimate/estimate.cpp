#include "estimate/estimate.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stagecraft {
namespace {

std::vector<NodeTimes> times_of_steps(const Graph& graph, const std::vector<double>& duration_s, std::size_t steps) {
  std::vector<NodeTimes> times(steps);
  std::vector<double> earliest_s;
  for (std::size_t step = 0; step < steps; ++step) {
    if (step > 0) carry_over(graph, times[step - 1], earliest_s);
    longest_path(graph, duration_s, earliest_s, times[step]);
  }
  return times;
}

double last_step_s(const std::vector<NodeTimes>& steps) {
  const double end = steps.back().makespan_s;
  return steps.size() == 1 ? end : end - steps[steps.size() - 2].makespan_s;
}

}  // namespace

Estimate estimate(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                  const Topology& topology, std::int32_t steps) {
  return estimate(graph, cost_nodes(plan, schedule, graph, model, topology), steps);
}

Estimate estimate(const Graph& graph, NodeCosts costs, std::int32_t steps) {
  assert(steps >= 1);
  Estimate result;
  result.costs = std::move(costs);
  result.steps = times_of_steps(graph, result.costs.expected_s, static_cast<std::size_t>(steps));
  result.step_time = {last_step_s(result.steps)};
  return result;
}

std::int32_t steps_until_steady(const Schedule& schedule) {
  if (schedule.asynchronous) return 1;  // the steady state lies within one stream, see estimate/steady_state.hpp
  if (schedule.optimizer_sync != OptimizerSync::barrier) return 4;
  const auto gathers_behind = [](const Op& op) {
    return (op.kind == OpKind::gather_params && op.lane == Lane::data) || op.kind == OpKind::reload_param;
  };
  const bool overlaps = std::any_of(schedule.programs.begin(), schedule.programs.end(), [&](const auto& program) {
    return std::any_of(program.begin(), program.end(), gathers_behind);
  });
  return overlaps ? 2 : 1;
}

}  // namespace stagecraft

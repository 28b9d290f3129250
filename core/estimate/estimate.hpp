#pragma once
// Step time without a network simulation: the longest path over the schedule graph with closed-form costs.

#include <vector>

#include "cost/cost_model.hpp"
#include "estimate/node_costs.hpp"
#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

struct Estimate {
  Seconds step_time;             // of the last step: its end minus the end of the step before
  std::vector<NodeTimes> steps;  // one per step, on one clock
  NodeCosts costs;
};

/// `steps` in a row, each started as the one before allows (graph.across_steps). Precondition: steps >= 1.
Estimate estimate(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                  const Topology& topology, std::int32_t steps = 1);

/// The same with costs that cost_nodes gave.
Estimate estimate(const Graph& graph, NodeCosts costs, std::int32_t steps = 1);

/// Steps after which one more takes as long as the last: 1 where a barrier parts the steps, more where work of a step
/// runs behind the next one's (overlapped parameter gathers, post-validation).
std::int32_t steps_until_steady(const Schedule& schedule);

}  // namespace stagecraft

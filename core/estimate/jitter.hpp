#pragma once
// Steps whose operations do not always take the same time.

#include <cstdint>

#include "estimate/jittered_steps.hpp"
#include "estimate/node_costs.hpp"
#include "schedule/graph.hpp"
#include "spec/training_spec.hpp"

namespace stagecraft {

/// Draws `jitter.samples` steps. In each, every computing operation of every data replica takes its closed-form time by
/// a factor of its own: lognormal, of mean 1 and the stated spread. The step ends when the slowest replica does. At
/// most 64 replicas are drawn, fewer where the schedule is so large that it would take long. The same seed gives the
/// same steps.
JitteredSteps jittered_steps(const JitterSpec& jitter, const NodeCosts& costs, const Schedule& schedule,
                             const Graph& graph, std::int64_t replicas);

}  // namespace stagecraft

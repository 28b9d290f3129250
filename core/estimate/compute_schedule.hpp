#pragma once

#include "base/findings.hpp"
#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// The compute-only schedule that the scenario names, generated or read from its CSV file. Communication in a CSV file
/// is left out, with a note in `findings`: lowering places it anew. Throws InputError, or a Refusal if the schedule
/// cannot run in the plan's shape.
Schedule compute_schedule(const Scenario& scenario, const Plan& plan, const CostModel& costs, const Topology& topology,
                          Findings& findings);

}  // namespace stagecraft

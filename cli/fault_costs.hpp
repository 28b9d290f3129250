#pragma once
// What the faults of a cluster cost the step, one by one, as notes of the report.

#include "base/findings.hpp"
#include "estimate/estimate.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::cli {

/// A note per fault: what it does to which link, and how much longer the step takes with this fault alone, in closed
/// form. `steps` as for the estimate of the scenario.
Findings fault_costs(const Scenario& scenario, const Plan& plan, const Schedule& schedule, const Graph& graph,
                     const Calibration& calibration, std::int32_t steps);

}  // namespace stagecraft::cli

#pragma once
// From a scenario file to a plan with its costs: what every verb that looks into a step begins with.

#include <string>
#include <vector>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"

namespace stagecraft::cli {

struct Planned {
  Scenario scenario;  // its stages balanced as it asks
  Findings findings;  // warnings and notes
  Topology topology;
  Plan plan;
  CostModel costs;
};

/// `calibration`: another one than the scenario's; "": its own. Throws InputError or a Refusal if the scenario is
/// malformed or cannot run.
Planned plan_scenario(const std::string& file, const std::vector<std::string>& overrides, const Library& library,
                      const std::string& calibration = "");

/// The plan's schedule with its messages and bodies; what is to say of it joins the findings.
Schedule lowered_schedule(Planned& planned);

}  // namespace stagecraft::cli

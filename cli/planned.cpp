#include "planned.hpp"

#include "base/refusal.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "plan/feasibility.hpp"
#include "schedule/lower.hpp"

namespace stagecraft::cli {

Planned plan_scenario(const std::string& file, const std::vector<std::string>& overrides, const Library& library,
                      const std::string& calibration) {
  Planned planned;
  planned.scenario = load_scenario(file, overrides, library);
  planned.findings = check_feasible(planned.scenario);
  refuse_errors(planned.scenario.path, planned.findings);
  planned.topology = build_topology(planned.scenario.cluster);
  const Calibration used = calibration_of(planned.scenario, library, calibration);
  balance_partition(planned.scenario, planned.topology, used);
  planned.plan = make_plan(planned.scenario);
  planned.costs = make_cost_model(planned.plan, planned.topology, used);
  return planned;
}

Schedule lowered_schedule(Planned& planned) {
  return lower(compute_schedule(planned.scenario, planned.plan, planned.costs, planned.topology, planned.findings),
               planned.plan);
}

}  // namespace stagecraft::cli

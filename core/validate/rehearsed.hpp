#pragma once
// What the figures of one record are worked out from.

#include <optional>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"
#include "validate/mapping.hpp"

namespace stagecraft {

struct Rehearsed {
  Plan plan;
  Topology topology;
  std::optional<CostModel> costs;  // nothing for a GPU without a hardware profile
  Schedule schedule;               // lowered
};

/// Precondition: !has_errors(check_feasible(scenario)). Throws InputError if the schedule refuses the shape.
Rehearsed rehearse(const Record& record, const Scenario& scenario, const Mapping& mapping, const Library& library);

}  // namespace stagecraft

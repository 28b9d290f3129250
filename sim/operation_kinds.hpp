#pragma once
// The few different operations of a schedule: thousands of nodes, one entry per kind, stage and message size.

#include <cstdint>
#include <vector>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "sim/demand.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// Operations that are played alike.
struct OperationKind {
  PipelineRank rank;
  Op op;                      // one of them
  bool communicates = false;  // is a transfer or collective of its own
  Demand demand;              // of that
};

struct OperationKinds {
  std::vector<OperationKind> kinds;    // in order of first use
  std::vector<std::uint32_t> of_node;  // graph node -> kinds
};

OperationKinds collect_operation_kinds(const Plan& plan, const Schedule& schedule, const CostModel& model,
                                       const Topology& topology);

}  // namespace stagecraft

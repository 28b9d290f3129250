#pragma once
// Closed-form seconds of every node of a schedule graph: bodies timed once, communication once per (kind, stage).

#include <array>
#include <vector>

#include "cost/rank_costs.hpp"
#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// Per node of the graph. Receives and reshards take no time: the transfer is the send's.
struct NodeCosts {
  std::vector<double> expected_s, low_s, high_s;
  std::vector<double> tensor_s;                 // of expected_s: exposed tensor-parallel communication
  std::vector<std::uint16_t> inner;             // index into `inner_table`: other communication inside an operation
  std::vector<InnerCommunication> inner_table;  // as Trace::inner
  std::array<double, 3> seconds_by_evidence{};  // sum of expected_s over all nodes, by Evidence
};

NodeCosts cost_nodes(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                     const Topology& topology);
/// The same with the bodies' times, which time_bodies_by_rank gave.
NodeCosts cost_nodes(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                     const Topology& topology, const RankTimes& bodies);

/// The weakest evidence (borrowed < fitted < measured) behind at least a twentieth of the time.
Evidence evidence_of(const NodeCosts& costs);

}  // namespace stagecraft

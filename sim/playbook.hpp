#pragma once
// How every operation is played: for how long, or as which flow over which shared links. Built once from closed-form
// times and the traffic on the links. Knows no SimGrid.

#include <cstdint>
#include <string>
#include <vector>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "sim/bottlenecks.hpp"
#include "sim/local_costs.hpp"
#include "sim/traffic_sample.hpp"
#include "topology/topology.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// Time that passes, then a flow if `path` is valid.
struct Move {
  double seconds = 0;
  std::int32_t path = -1;
  std::uint64_t units = 0;  // of the flow, >= 1
};

/// An operation: its moves one after the other.
struct Work {
  std::uint32_t first_move = 0, moves = 0;
  double idle_s = 0;        // on an idle network
  double tensor_s = 0;      // of idle_s: exposed tensor-parallel collectives
  bool joint = false;       // starts when all replicas are ready, and ends for all
  std::uint16_t inner = 0;  // other exposed communication of idle_s: index into Playbook::inner
};

/// A route over bottlenecks with a cap of its own, see FlowNetwork::add_path.
struct FlowPath {
  double cap = 0;  // units/s
  std::vector<Crossing> crossings;
};

struct Playbook {
  std::int32_t replicas = 1;
  std::vector<std::uint32_t> work_of;  // [replica * nodes + node] -> works
  std::vector<Work> works;
  std::vector<Move> moves;
  std::vector<FlowPath> paths;
  std::vector<Bottleneck> links;
  std::vector<InnerCommunication> inner;  // as Trace::inner
};

/// Collectives inside operations become flows where another class of traffic can take their links; where none can, they
/// are part of the operation's time, which is exact. Times are those of the plan on its topology; which links classes
/// of traffic share is found on the sample, whose links Playbook::links names.
Playbook make_playbook(const Plan& plan, const Schedule& schedule, const LocalCosts& costs, const Topology& topology,
                       const TrafficSample& sample, bool folded);

}  // namespace stagecraft

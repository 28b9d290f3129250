#pragma once
// One or several training steps played on SimGrid, with every link modelled that more than one kind of traffic uses.
// Not thread-safe, and one simulation at a time: SimGrid keeps its clock and its models per process.

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

struct SimulationOptions {
  std::int32_t steps = 1;      // 1 to 255, in a row
  bool segment_spans = false;  // a span per segment too, not only per operation
  bool link_counters = false;  // "link/NAME" in B/s for every link that two kinds of traffic share
  bool folded = true;          // one pipeline stands for all data replicas where it can; false: each is played
};

/// Whether one data replica stands for all, and if there is something to say about it, why or how well.
struct Folding {
  bool folded = true;
  std::string note;
};

/// Exact where all replicas fare the same. Faults of single nodes or GPUs set them apart: then each is played, unless
/// these are too many.
Folding folding_of(const Plan& plan, const Graph& graph, const Topology& topology, std::int32_t steps);
inline constexpr std::int64_t most_unfolded_operations = 8'000'000;

/// Ranks whose routes a folded simulation walks: all, unless so many replicas repeat each other's place on the machines
/// that some stand for the rest. A million take about ten seconds.
std::int64_t walked_ranks(const Plan& plan, const Topology& topology);
inline constexpr std::int64_t most_walked_ranks = std::int64_t{1} << 20;

/// The trace of all steps; `producer`, `scenario` and `provenance` are left to the caller.
///
/// The ranks of a tensor group move in step, so one stands for all; if folded, so do the replicas of the data group.
/// Traffic of the ranks that one stands for is counted in full on every link it crosses (sim/traffic.hpp,
/// sim/bottlenecks.hpp). On links that nobody else uses at the time every operation takes its closed-form time
/// (core/cost) exactly. Precondition: the schedule is lowered and check_schedule found no error.
Trace simulate(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
               const Topology& topology, const SimulationOptions& options);

}  // namespace stagecraft

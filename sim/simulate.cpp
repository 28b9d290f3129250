#include "sim/simulate.hpp"

#include <fmt/format.h>

#include <cassert>

#include "sim/playbook.hpp"
#include "sim/played_trace.hpp"
#include "sim/player.hpp"
#include "sim/traffic.hpp"
#include "trace/align.hpp"

namespace stagecraft {
namespace {

/// Of a step: what the operations of the mean rank last longer because the slowest is waited for.
double waiting_share(const Schedule& schedule, const LocalCosts& costs, double step_s) {
  double waiting_s = 0;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const std::vector<BodyTime>& bodies = costs.bodies[costs.at(PipelineRank(rank), 0)];
    for (const Op& op : schedule.programs[rank]) {
      if (op.body.valid()) waiting_s += bodies[op.body.index()].waiting.value;
    }
  }
  const double total_s = step_s * static_cast<double>(schedule.programs.size());
  return total_s > 0 ? waiting_s / total_s : 0;
}

Trace play_steps(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                 const Topology& topology, const SimulationOptions& options) {
  const bool folded = options.folded && folding_of(plan, graph, topology, options.steps).folded;
  const LocalCosts costs = local_costs(plan, schedule, model, topology, folded);
  const TrafficSample sample = traffic_sample(plan, topology, folded);
  const Playbook book = make_playbook(plan, schedule, costs, topology, sample, folded);
  std::vector<std::string> names;
  for (const Bottleneck& bottleneck : book.links) names.push_back(link(sample.topology, bottleneck.link).name);

  std::vector<FlowStretch> flows;
  const PlayedTimes times = play(book, graph, options.steps, names, options.link_counters ? &flows : nullptr);

  Trace trace = trace_of(times, book, plan, schedule, graph, topology, options.steps);
  const double waiting = waiting_share(schedule, costs, (trace.end_s - trace.begin_s) / options.steps);
  if (waiting > 0) trace.provenance.push_back({waiting_key, std::to_string(waiting)});
  if (options.segment_spans) add_segment_spans(trace, plan, schedule, costs);
  if (options.link_counters) add_link_counters(trace, book, names, flows);
  return trace;
}

}  // namespace

Folding folding_of(const Plan& plan, const Graph& graph, const Topology& topology, std::int32_t steps) {
  const std::int64_t replicas = replica_count(plan, false);
  const bool scattered = !plan.run.parallel.placement.places.empty();
  if (is_even(topology) && !scattered) {
    const bool hashed = replicas > 1 && topology.cluster.fabric.routing == Routing::fixed;
    return {true, hashed
                      ? fmt::format("one pipeline stands for all {} data replicas, at the pace of the one that fixed "
                                    "routing serves worst",
                                    replicas)
                      : ""};
  }
  const bool mixed = !topology.cluster.other_nodes.empty();
  const char* const cause = is_even(topology) ? "the rank file sets"
                            : mixed           ? "nodes of several kinds set"
                                              : "faults set";
  const std::string why = replicas > 1 ? fmt::format("{} the {} data replicas apart", cause, replicas)
                                       : fmt::format("{} ranks apart", cause);
  const std::int64_t operations = replicas * node_count(graph) * steps;
  if (operations <= most_unfolded_operations)
    return {false, why + (replicas > 1 ? ", so each is played on its own" : ", so each has its own links and GPUs")};
  return {true, fmt::format("{}, but {} operations are too many to play each on its own (at most {}): one stands for "
                            "all, as slow as the slowest; this is approximate and errs on the slow side",
                            why, operations, most_unfolded_operations)};
}

std::int64_t walked_ranks(const Plan& plan, const Topology& topology) {
  return world_size(traffic_sample(plan, topology, true).plan.degrees);
}

Trace simulate(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
               const Topology& topology, const SimulationOptions& options) {
  assert(options.steps >= 1 && options.steps <= 255);
  // Sorting needs room for a second set of spans, so the times behind them are given back first.
  Trace trace = play_steps(plan, schedule, graph, model, topology, options);
  sort_spans(trace);
  return trace;
}

}  // namespace stagecraft

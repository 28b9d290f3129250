#include "sim/simulate.hpp"

#include <cassert>

#include "sim/playbook.hpp"
#include "sim/played_trace.hpp"
#include "sim/player.hpp"
#include "trace/align.hpp"

namespace stagecraft {
namespace {

/// Of a step: what the operations of the mean rank last longer because the slowest is waited for.
double waiting_share(const Schedule& schedule, const std::vector<BodyTime>& bodies, double step_s) {
  double waiting_s = 0;
  for (const std::vector<Op>& program : schedule.programs) {
    for (const Op& op : program) {
      if (op.body.valid()) waiting_s += bodies[op.body.index()].waiting.value;
    }
  }
  const double total_s = step_s * static_cast<double>(schedule.programs.size());
  return total_s > 0 ? waiting_s / total_s : 0;
}

Trace play_steps(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                 const Topology& topology, const SimulationOptions& options) {
  const std::vector<BodyTime> bodies = time_bodies(model, schedule, plan);
  const TrafficSample sample = traffic_sample(plan, topology, options.folded);
  const Playbook book = make_playbook(plan, schedule, model, bodies, topology, sample, options.folded);
  std::vector<std::string> names;
  for (const Bottleneck& bottleneck : book.links) names.push_back(link(sample.topology, bottleneck.link).name);

  std::vector<PlayedFlow> flows;
  const PlayedTimes times = play(book, graph, options.steps, names, options.link_counters ? &flows : nullptr);

  Trace trace = trace_of(times, book, plan, schedule, graph, topology, options.steps);
  const double waiting = waiting_share(schedule, bodies, (trace.end_s - trace.begin_s) / options.steps);
  if (waiting > 0) trace.provenance.push_back({waiting_key, std::to_string(waiting)});
  if (options.segment_spans) add_segment_spans(trace, schedule, bodies);
  if (options.link_counters) add_link_counters(trace, book, names, flows);
  return trace;
}

}  // namespace

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

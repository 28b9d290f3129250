#include "estimate/estimated_trace.hpp"

namespace stagecraft {
namespace {

/// Spans of one step in the order of the nodes, and the edges between them.
void add_step(Trace& trace, const NodeTimes& times, const NodeCosts& costs, const Schedule& schedule,
              const Graph& graph, std::size_t step) {
  const auto base = static_cast<std::uint32_t>(trace.spans.size());
  std::uint32_t node = 0;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    for (const Op& op : schedule.programs[rank]) {
      Span span;
      span.begin_s = times.start_s[node];
      span.end_s = times.end_s[node];
      span.tensor_s = costs.tensor_s.empty() ? 0 : costs.tensor_s[node];
      span.inner = costs.inner.empty() ? std::uint16_t{0} : costs.inner[node];
      span.rank = trace.ranks[rank].rank;
      span.micro_batch = op.micro_batch.value;
      span.stage = op.stage.value;
      span.step = static_cast<std::uint8_t>(step);
      span.kind = op.kind;
      span.lane = op.lane;
      trace.spans.push_back(span);
      for (const std::uint32_t next : successors_of(graph, node))
        trace.dependencies.push_back({base + node, base + next});
      ++node;
    }
  }
  if (step > 0) {
    for (const Graph::Edge& edge : graph.across_steps)
      trace.dependencies.push_back({base - node + edge.from, base + edge.to});
  }
  trace.end_s = times.makespan_s;
  trace.step_end_s.push_back(times.makespan_s);
}

Trace empty_trace(const char* kind, std::size_t steps) {
  Trace trace;
  trace.kind = kind;
  trace.steps = static_cast<std::int32_t>(steps);
  trace.labels = {""};
  return trace;
}

}  // namespace

Trace to_trace(const Estimate& estimate, const Plan& plan, const Schedule& schedule, const Graph& graph,
               const Topology& topology) {
  Trace trace = empty_trace("estimated", estimate.steps.size());
  const std::int32_t folded = plan.degrees.tensor * plan.degrees.context * plan.degrees.data;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const Rank first = representative(plan, PipelineRank(rank));
    trace.ranks.push_back(
        {first.value, static_cast<std::int32_t>(rank), node_of(topology, gpu_of(plan, first)).value, folded});
  }
  trace.inner = estimate.costs.inner_table;
  for (std::size_t step = 0; step < estimate.steps.size(); ++step) {
    add_step(trace, estimate.steps[step], estimate.costs, schedule, graph, step);
  }
  sort_spans(trace);
  return trace;
}

Trace to_trace(const NodeTimes& times, const Schedule& schedule, const Graph& graph) {
  Trace trace = empty_trace("estimated", 1);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const auto number = static_cast<std::int32_t>(rank);
    trace.ranks.push_back({number, number, 0, 1});
  }
  add_step(trace, times, {}, schedule, graph, 0);
  sort_spans(trace);
  return trace;
}

}  // namespace stagecraft

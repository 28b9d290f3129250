#include "sim/played_trace.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

/// The ranks that are played: the representative of every pipeline rank in every replica.
void add_ranks(Trace& trace, const Plan& plan, const Playbook& book, const Topology& topology, std::size_t ranks) {
  const std::int32_t data = plan.degrees.data * plan.degrees.context;
  const std::int32_t represents = plan.degrees.tensor * (book.replicas == 1 ? data : 1);
  for (std::int32_t replica = 0; replica < book.replicas; ++replica) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto pipeline = static_cast<std::int32_t>(rank);
      const Rank global = rank_at(
          plan.degrees, Coordinates{0, replica % plan.degrees.context, replica / plan.degrees.context, pipeline});
      trace.ranks.push_back({global.value, pipeline, node_of(topology, gpu_of(plan, global)).value, represents});
    }
  }
  std::sort(trace.ranks.begin(), trace.ranks.end(),
            [](const TraceRank& a, const TraceRank& b) { return a.rank < b.rank; });
}

Span span_of(const Op& op, std::int32_t rank, std::int32_t step, double begin, double end, const Work& work) {
  Span span;
  span.begin_s = begin;
  span.end_s = end;
  // What an operation takes beyond its idle time, it waited in its collectives.
  if (work.tensor_s > 0) span.tensor_s = std::max(0.0, work.tensor_s + (end - begin - work.idle_s));
  span.rank = rank;
  span.micro_batch = op.micro_batch.value;
  span.stage = op.stage.value;
  span.step = static_cast<std::uint8_t>(step);
  span.kind = op.kind;
  span.lane = op.lane;
  span.inner = work.inner;
  return span;
}

}  // namespace

Trace trace_of(const PlayedTimes& times, const Playbook& book, const Plan& plan, const Schedule& schedule,
               const Graph& graph, const Topology& topology, std::int32_t steps) {
  Trace trace;
  trace.kind = "predicted";
  trace.steps = steps;
  trace.labels = {""};
  trace.inner = book.inner;
  add_ranks(trace, plan, book, topology, schedule.programs.size());
  const std::uint32_t nodes = node_count(graph);
  const std::uint32_t per_step = nodes * static_cast<std::uint32_t>(book.replicas);
  trace.spans.reserve(times.end_s.size());
  trace.dependencies.reserve((times.end_s.size() / std::max(1U, nodes)) *
                             (graph.successors.size() + graph.across_steps.size()));
  trace.step_end_s.assign(static_cast<std::size_t>(steps), 0);
  std::uint32_t index = 0;
  for (std::int32_t step = 0; step < steps; ++step) {
    for (std::int32_t replica = 0; replica < book.replicas; ++replica) {
      const std::uint32_t first = index;
      for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
        const Rank global =
            rank_at(plan.degrees, Coordinates{0, replica % plan.degrees.context, replica / plan.degrees.context,
                                              static_cast<std::int32_t>(rank)});
        for (const Op& op : schedule.programs[rank]) {
          const Work& work = book.works[book.work_of[index % per_step]];
          trace.spans.push_back(span_of(op, global.value, step, times.begin_s[index], times.end_s[index], work));
          double& end = trace.step_end_s[static_cast<std::size_t>(step)];
          end = std::max(end, times.end_s[index]);
          for (const std::uint32_t next : successors_of(graph, index - first)) {
            trace.dependencies.push_back({index, first + next});
          }
          ++index;
        }
      }
      if (step == 0) continue;
      for (const Graph::Edge& edge : graph.across_steps) {
        trace.dependencies.push_back({first - per_step + edge.from, first + edge.to});
      }
    }
  }
  for (const double end : trace.step_end_s) trace.end_s = std::max(trace.end_s, end);
  return trace;
}

}  // namespace stagecraft

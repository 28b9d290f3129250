#include <algorithm>

#include "exec/run/execute.hpp"

namespace stagecraft {

namespace {

Span span_of(const Op& op, const RecordedOp& recorded, std::int32_t rank, std::int32_t first_step, double origin_s) {
  Span span;
  span.begin_s = recorded.begin_s - origin_s;
  span.end_s = std::max(recorded.end_s - origin_s, span.begin_s);
  span.tensor_s = is_compute(op.kind) ? std::min(recorded.tensor_s, span.end_s - span.begin_s) : 0;
  span.rank = rank;
  span.stage = op.stage.value;
  span.micro_batch = op.micro_batch.value;
  span.kind = op.kind;
  span.lane = op.lane;
  span.step = static_cast<std::uint8_t>(recorded.step - first_step);
  return span;
}

}  // namespace

void append_spans(const JobInputs& inputs, std::int32_t rank, const std::vector<RecordedOp>& ops,
                  std::int32_t first_step, double origin_s, Trace& trace) {
  const Coordinates at = coordinates_of(inputs.plan.degrees, Rank(rank));
  const std::vector<Op>& program = inputs.schedule.programs[static_cast<std::size_t>(at.pipeline)];
  CounterSeries memory{"memory/allocated", "B", rank, {}, {}};
  for (const RecordedOp& recorded : ops) {
    if (recorded.step < first_step) continue;
    const Op& op = program[recorded.position];
    if (is_compute(op.kind)) {
      memory.time_s.push_back(recorded.begin_s - origin_s);
      memory.value.push_back(static_cast<double>(recorded.peak_bytes));
    }
    Span span = span_of(op, recorded, rank, first_step, origin_s);
    if (recorded.recompute_s > 0) {
      // Receives may stand between the two, and the forward of an overlapped pair.
      const auto again = std::find_if(trace.spans.rbegin(), trace.spans.rend(), [&](const Span& before) {
        return before.kind == OpKind::recompute && before.rank == rank && before.stage == span.stage &&
               before.micro_batch == span.micro_batch && before.step == span.step;
      });
      if (again != trace.spans.rend()) {
        again->begin_s = span.begin_s;
        again->end_s = span.begin_s = std::min(span.begin_s + recorded.recompute_s, span.end_s);
      }
    }
    trace.spans.push_back(span);
  }
  if (std::any_of(memory.value.begin(), memory.value.end(), [](double bytes) { return bytes > 0; })) {
    trace.counters.push_back(std::move(memory));
  }
}

void connect_spans(const JobInputs& inputs, Trace& trace) {
  const Graph& graph = inputs.graph;
  const std::size_t nodes = node_count(graph);
  const auto world = static_cast<std::size_t>(world_size(inputs.plan.degrees));
  sort_spans(trace);
  // Spans of a column (same tensor and data coordinates) by (step, node).
  const std::size_t columns = world / static_cast<std::size_t>(inputs.plan.degrees.pipeline);
  const auto column_of = [&](std::int32_t rank) {
    Coordinates at = coordinates_of(inputs.plan.degrees, Rank(rank));
    at.pipeline = 0;
    return static_cast<std::size_t>(rank_at(inputs.plan.degrees, at).value);
  };
  const std::size_t per_step = columns * nodes;
  std::vector<std::int64_t> index(per_step * static_cast<std::size_t>(std::max(trace.steps, 1)), -1);
  std::vector<std::vector<std::pair<OpId, std::uint32_t>>> named(inputs.schedule.programs.size());
  for (std::size_t p = 0; p < named.size(); ++p) {
    for (std::uint32_t i = 0; i < inputs.schedule.programs[p].size(); ++i) {
      const Op& op = inputs.schedule.programs[p][i];
      named[p].push_back({OpId{0, op.kind, op.stage, op.micro_batch, -1}, graph.first_of_rank[p] + i});
    }
    std::stable_sort(named[p].begin(), named[p].end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  for (std::size_t s = 0; s < trace.spans.size(); ++s) {
    const Span& span = trace.spans[s];
    const auto p = static_cast<std::size_t>(coordinates_of(inputs.plan.degrees, Rank(span.rank)).pipeline);
    OpId id = op_id(span);
    id.step = 0;
    auto found = std::lower_bound(named[p].begin(), named[p].end(), id,
                                  [](const auto& a, const OpId& b) { return a.first < b; });
    // Operations without a micro-batch (unshard, reshard) may occur several times in a step: in their order.
    while (found != named[p].end() && found->first == id) {
      std::int64_t& slot =
          index[static_cast<std::size_t>(span.step) * per_step + column_of(span.rank) * nodes + found->second];
      if (slot < 0) {
        slot = static_cast<std::int64_t>(s);
        break;
      }
      ++found;
    }
  }
  const auto add = [&](std::int64_t from, std::int64_t to) {
    if (from >= 0 && to >= 0)
      trace.dependencies.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
  };
  for (std::int32_t step = 0; step < trace.steps; ++step) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t base = static_cast<std::size_t>(step) * per_step + column * nodes;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        for (const std::uint32_t to : successors_of(graph, node)) add(index[base + node], index[base + to]);
      }
      if (step + 1 == trace.steps) continue;
      for (const Graph::Edge& edge : graph.across_steps) add(index[base + edge.from], index[base + per_step + edge.to]);
    }
  }
}

}  // namespace stagecraft

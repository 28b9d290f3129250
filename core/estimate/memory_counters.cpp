#include "estimate/memory_counters.hpp"

#include <algorithm>
#include <tuple>

#include "memory/timeline.hpp"

namespace stagecraft {
namespace {

using Key = std::tuple<std::int32_t, OpKind, std::int32_t, std::int32_t>;  // step, kind, stage, micro-batch

struct Begin {
  Key key;
  double time_s = 0;
};

/// Begins of the whole operations of one rank, sorted by key.
std::vector<Begin> begins_of(const Trace& trace, std::int32_t rank) {
  std::vector<Begin> begins;
  for (const SpanRange& lane : lanes_of(trace)) {
    if (trace.spans[lane.first].rank != rank) continue;
    for (std::size_t i = lane.first; i < lane.last; ++i) {
      const Span& span = trace.spans[i];
      if (span.segment < 0) begins.push_back({{span.step, span.kind, span.stage, span.micro_batch}, span.begin_s});
    }
  }
  std::sort(begins.begin(), begins.end(), [](const Begin& a, const Begin& b) { return a.key < b.key; });
  return begins;
}

void append(CounterSeries& series, double time_s, double value) {
  if (!series.value.empty() && series.value.back() == value) return;
  if (!series.time_s.empty() && series.time_s.back() == time_s) {
    series.value.back() = std::max(series.value.back(), value);  // operations without length: the peak counts
    return;
  }
  series.time_s.push_back(time_s);
  series.value.push_back(value);
}

}  // namespace

void add_memory_counters(Trace& trace, const Plan& plan, const Schedule& schedule) {
  const MemoryModel model = make_memory_model(plan, schedule);
  for (const TraceRank& rank : std::vector<TraceRank>(trace.ranks)) {
    const PipelineRank at(rank.pipeline_rank);
    const MemoryTimeline timeline = memory_timeline(model, schedule, at);
    const std::vector<Op>& program = schedule.programs[at.index()];
    const std::vector<Begin> begins = begins_of(trace, rank.rank);
    const std::size_t first = trace.counters.size();
    for (std::size_t i = 0; i < memory_class_count; ++i) {
      const std::string name = to_text(static_cast<MemoryClass>(i));
      trace.counters.push_back({"memory/" + name, "B", rank.rank, {}, {}});
    }
    trace.counters.push_back({"memory/total", "B", rank.rank, {}, {}});
    const auto record = [&](double time_s, const MemoryByClass& state) {
      for (std::size_t i = 0; i < memory_class_count; ++i) append(trace.counters[first + i], time_s, state[i].value);
      append(trace.counters[first + memory_class_count], time_s, total(state).value);
    };
    record(trace.begin_s, timeline.resident);
    double time_s = trace.begin_s;  // the curve follows the program, so time never goes back
    for (std::int32_t step = 0; step < trace.steps; ++step) {
      for (std::size_t i = 0; i < program.size(); ++i) {
        const Key key{step, program[i].kind, program[i].stage.value, program[i].micro_batch.value};
        const auto found = std::lower_bound(begins.begin(), begins.end(), key,
                                            [](const Begin& begin, const Key& wanted) { return begin.key < wanted; });
        if (found == begins.end() || found->key != key) continue;
        time_s = std::max(time_s, found->time_s);
        record(time_s, timeline.while_op[i]);
      }
    }
    record(trace.end_s, timeline.after);
  }
}

}  // namespace stagecraft

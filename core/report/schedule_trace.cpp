#include "report/schedule_trace.hpp"

namespace stagecraft {

Trace to_trace(const Schedule& schedule, const Analysis& analysis) {
  Trace trace;
  trace.scenario = schedule.name;
  trace.kind = "estimated";
  trace.labels = {""};
  trace.end_s = analysis.makespan;
  trace.step_end_s = {analysis.makespan};
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const auto number = static_cast<std::int32_t>(rank);
    trace.ranks.push_back({number, number, 0, 1});
    for (std::size_t i = 0; i < schedule.programs[rank].size(); ++i) {
      const Op& op = schedule.programs[rank][i];
      if (!is_compute(op.kind)) continue;
      Span span;
      span.begin_s = analysis.spans[rank][i].start;
      span.end_s = analysis.spans[rank][i].end;
      span.rank = number;
      span.micro_batch = op.micro_batch.value;
      span.stage = op.stage.value;
      span.kind = op.kind;
      trace.spans.push_back(span);
    }
  }
  sort_spans(trace);
  return trace;
}

}  // namespace stagecraft

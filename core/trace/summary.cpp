#include "trace/summary.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

#include "trace/critical_path.hpp"
#include "trace/idle_time.hpp"

namespace stagecraft {
namespace {

/// Adds one span, cut to the step.
void add_span(const Trace& trace, const Span& span, Interval step, Breakdown& seconds) {
  const double inside = std::min(span.end_s, step.end_s) - std::max(span.begin_s, step.begin_s);
  if (inside > 0) add_part_of(trace, span, inside, seconds);
}

std::uint32_t last_to_end(const Trace& trace, Interval step) {
  std::uint32_t last = 0;
  double end = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.segment >= 0 || span.end_s > step.end_s || span.end_s <= end) continue;
    end = span.end_s;
    last = static_cast<std::uint32_t>(i);
  }
  return last;
}

struct Context {
  const Trace& trace;
  const Predecessors& predecessors;
  Interval step;
  std::uint32_t last;
};

Breakdown breakdown_of(const Context& at, SpanRange compute) {
  Breakdown seconds{};
  const Phases phases = phases_of(at.trace, compute, at.step);
  const std::int32_t rank = at.trace.spans[compute.first].rank;
  double free_since = at.step.begin_s;
  for (std::size_t i = compute.first; i < compute.last; ++i) {
    const Span& span = at.trace.spans[i];
    if (span.segment >= 0 || span.end_s <= at.step.begin_s || span.begin_s >= at.step.end_s) continue;
    if (span.begin_s > free_since) {
      add_idle(at.trace, at.predecessors, rank, {free_since, span.begin_s}, static_cast<std::uint32_t>(i), false,
               phases, seconds);
    }
    add_span(at.trace, span, at.step, seconds);
    free_since = std::max(free_since, span.end_s);
  }
  if (free_since < at.step.end_s) {
    add_idle(at.trace, at.predecessors, rank, {free_since, at.step.end_s}, at.last, true, phases, seconds);
  }
  return seconds;
}

}  // namespace

void add_part_of(const Trace& trace, const Span& span, double part_s, Breakdown& seconds) {
  const auto add = [&](TimeClass time_class, double time_s) {
    seconds[static_cast<std::size_t>(time_class)] += time_s;
  };
  const double length = span.end_s - span.begin_s;
  const double share = length > 0 ? part_s / length : 0;
  const double tensor = std::min(span.tensor_s * share, part_s);
  const InnerCommunication inner = inner_of(trace, span);
  add(TimeClass::tensor_communication, tensor);
  add(TimeClass::context_communication, inner.context_s * share);
  add(TimeClass::expert_communication, inner.expert_s * share);
  add(TimeClass::data_communication, inner.data_s * share);
  add(TimeClass::host_copies, inner.copies_s * share);
  const double others = (inner.context_s + inner.expert_s + inner.data_s + inner.copies_s) * share;
  add(class_of(span.kind), part_s - tensor - others);
}

Phases phases_of(const Trace& trace, SpanRange compute, Interval step) {
  Phases phases{step.begin_s, step.end_s};
  bool seen_backward = false, seen_forward = false;
  for (std::size_t i = compute.first; i < compute.last; ++i) {
    const Span& span = trace.spans[i];
    if (span.segment >= 0 || span.end_s <= step.begin_s || span.begin_s >= step.end_s) continue;
    const TimeClass kind = class_of(span.kind);
    if (kind == TimeClass::forward) {
      phases.last_forward_s = std::min(span.end_s, step.end_s);
      seen_forward = true;
    } else if (!seen_backward && (kind == TimeClass::backward || kind == TimeClass::recompute)) {
      phases.first_backward_s = std::max(span.begin_s, step.begin_s);
      seen_backward = true;
    }
  }
  if (!seen_backward) phases.first_backward_s = seen_forward ? step.end_s : step.begin_s;
  return phases;
}

Summary summarise(const Trace& trace, std::int32_t step) {
  assert(!trace.step_end_s.empty());
  const std::size_t last_step = trace.step_end_s.size() - 1;
  const std::size_t index = step < 0 ? last_step : std::min(static_cast<std::size_t>(step), last_step);
  return summarise_between(trace, index == 0 ? trace.begin_s : trace.step_end_s[index - 1], trace.step_end_s[index]);
}

Summary summarise_between(const Trace& trace, double begin_s, double end_s) {
  Summary summary;
  summary.begin_s = begin_s;
  summary.end_s = end_s;
  summary.step_s = end_s - begin_s;
  const Predecessors predecessors = predecessors_of(trace);
  const Interval window{begin_s, end_s};
  const Context context{trace, predecessors, window, last_to_end(trace, window)};

  std::map<std::int32_t, SpanRange> compute_lane;
  for (const SpanRange& lane : lanes_of(trace)) {
    const Span& first = trace.spans[lane.first];
    if (first.lane == Lane::compute) compute_lane[first.rank] = lane;
  }
  double ranks = 0;
  for (const TraceRank& rank : trace.ranks) {
    const auto lane = compute_lane.find(rank.rank);
    if (lane == compute_lane.end()) continue;
    summary.ranks.push_back({rank, breakdown_of(context, lane->second)});
    ranks += rank.represents;
    for (std::size_t i = 0; i < time_class_count; ++i) {
      summary.mean[i] += rank.represents * summary.ranks.back().seconds[i];
    }
  }
  for (double& seconds : summary.mean) seconds /= std::max(ranks, 1.0);
  summary.bubble_fraction = summary.step_s > 0 ? bubble(summary.mean) / summary.step_s : 0;
  if (!trace.spans.empty()) summary.critical_path = walk_critical_path(trace, predecessors, window, context.last);
  return summary;
}

}  // namespace stagecraft

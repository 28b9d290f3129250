#include "trace/idle_time.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

double& of(Breakdown& seconds, TimeClass time_class) {
  return seconds[static_cast<std::size_t>(time_class)];
}

}  // namespace

void add_bubble(Interval idle, const Phases& phases, Breakdown& seconds) {
  const double warm = std::clamp(phases.first_backward_s, idle.begin_s, idle.end_s);
  const double cool = std::clamp(phases.last_forward_s, warm, idle.end_s);
  of(seconds, TimeClass::bubble_warmup) += warm - idle.begin_s;
  of(seconds, TimeClass::bubble_steady) += cool - warm;
  of(seconds, TimeClass::bubble_cooldown) += idle.end_s - cool;
}

std::optional<std::uint32_t> binding_predecessor(const Trace& trace, const Predecessors& predecessors,
                                                 std::uint32_t span) {
  std::optional<std::uint32_t> best;
  const auto better = [&](std::uint32_t a, std::uint32_t b) {
    const Span &left = trace.spans[a], &right = trace.spans[b];
    if (left.end_s != right.end_s) return left.end_s > right.end_s;
    const bool left_here = left.rank == trace.spans[span].rank, right_here = right.rank == trace.spans[span].rank;
    if (left_here != right_here) return left_here;
    if ((left.lane == Lane::compute) != (right.lane == Lane::compute)) return left.lane == Lane::compute;
    return a < b;
  };
  for (const std::uint32_t candidate : predecessors_of(predecessors, span)) {
    if (!best || better(candidate, *best)) best = candidate;
  }
  return best;
}

void add_idle(const Trace& trace, const Predecessors& predecessors, std::int32_t rank, Interval idle,
              std::uint32_t awaited, bool awaited_itself, const Phases& phases, Breakdown& seconds) {
  double until = idle.end_s;  // what lies after is classified already
  std::optional<std::uint32_t> cause =
      awaited_itself ? std::optional(awaited) : binding_predecessor(trace, predecessors, awaited);
  std::size_t hops = 0;  // dependencies read from a file may form a cycle
  while (until > idle.begin_s && cause && hops++ < trace.spans.size()) {
    const Span& span = trace.spans[*cause];
    const double end = std::clamp(span.end_s, idle.begin_s, until);
    of(seconds, TimeClass::other) += until - end;
    until = end;
    const TimeClass kind = class_of(span.kind);
    const bool communicates = kind == TimeClass::pipeline_communication || kind == TimeClass::data_communication;
    if (!communicates) {
      if (span.rank == rank || until <= idle.begin_s) break;
      return add_bubble({idle.begin_s, until}, phases, seconds);
    }
    const double begin = std::clamp(span.begin_s, idle.begin_s, until);
    of(seconds, kind) += until - begin;
    until = begin;
    cause = binding_predecessor(trace, predecessors, *cause);
  }
  of(seconds, TimeClass::other) += until - idle.begin_s;
}

}  // namespace stagecraft

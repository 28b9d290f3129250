#include "trace/idle_time.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

/// Cuts a bubble at the phases and calls `piece(interval, class)` from the latest part to the first.
template <class Piece>
void cut_bubble(Interval idle, const Phases& phases, Piece&& piece) {
  const double warm = std::clamp(phases.first_backward_s, idle.begin_s, idle.end_s);
  const double cool = std::clamp(phases.last_forward_s, warm, idle.end_s);
  piece(Interval{cool, idle.end_s}, TimeClass::bubble_cooldown);
  piece(Interval{warm, cool}, TimeClass::bubble_steady);
  piece(Interval{idle.begin_s, warm}, TimeClass::bubble_warmup);
}

double& of(Breakdown& seconds, TimeClass time_class) {
  return seconds[static_cast<std::size_t>(time_class)];
}

/// What made a rank wait, from the end of `idle` backwards.
template <class Piece>
void walk_idle(const Trace& trace, const Predecessors& predecessors, std::int32_t rank, Interval idle,
               std::uint32_t awaited, bool awaited_itself, const Phases& phases, Piece&& piece) {
  double until = idle.end_s;  // what lies after is classified already
  std::optional<std::uint32_t> cause =
      awaited_itself ? std::optional(awaited) : binding_predecessor(trace, predecessors, awaited);
  std::size_t hops = 0;  // dependencies read from a file may form a cycle
  while (until > idle.begin_s && cause && hops++ < trace.spans.size()) {
    const Span& span = trace.spans[*cause];
    const double end = std::clamp(span.end_s, idle.begin_s, until);
    piece(Interval{end, until}, TimeClass::other);
    until = end;
    const TimeClass kind = class_of(span.kind);
    const bool communicates = kind == TimeClass::pipeline_communication || kind == TimeClass::data_communication ||
                              kind == TimeClass::host_copies;
    if (!communicates) {
      if (span.rank == rank || until <= idle.begin_s) break;
      return cut_bubble({idle.begin_s, until}, phases, piece);
    }
    const double begin = std::clamp(span.begin_s, idle.begin_s, until);
    piece(Interval{begin, until}, kind);
    until = begin;
    cause = binding_predecessor(trace, predecessors, *cause);
  }
  piece(Interval{idle.begin_s, until}, TimeClass::other);
}

}  // namespace

void add_bubble(Interval idle, const Phases& phases, Breakdown& seconds) {
  cut_bubble(idle, phases, [&](Interval time, TimeClass cause) { of(seconds, cause) += time.end_s - time.begin_s; });
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
  walk_idle(trace, predecessors, rank, idle, awaited, awaited_itself, phases,
            [&](Interval time, TimeClass cause) { of(seconds, cause) += time.end_s - time.begin_s; });
}

std::vector<IdlePiece> idle_pieces(const Trace& trace, const Predecessors& predecessors, std::int32_t rank,
                                   Interval idle, std::uint32_t awaited, bool awaited_itself, const Phases& phases) {
  std::vector<IdlePiece> pieces;
  walk_idle(trace, predecessors, rank, idle, awaited, awaited_itself, phases, [&](Interval time, TimeClass cause) {
    if (time.end_s > time.begin_s) pieces.push_back({time, cause});
  });
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

}  // namespace stagecraft

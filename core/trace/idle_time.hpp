#pragma once
// Why a rank idled: the causes of a gap on its compute lane, found by walking back over dependencies.

#include <optional>
#include <vector>

#include "trace/time_class.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

struct Interval {
  double begin_s = 0, end_s = 0;
};

/// When one rank fills and drains: what tells warm-up, steady and cool-down apart.
struct Phases {
  double first_backward_s = 0;  // begin of the first B, I or recompute
  double last_forward_s = 0;    // end of the last F
};

/// Adds `idle` to the bubble classes, cut at the phases: what lies before the first backward is warm-up, what lies
/// after the last forward is cool-down (warm-up where both hold), the rest is steady.
void add_bubble(Interval idle, const Phases& phases, Breakdown& seconds);

/// The predecessor of `span` that ended last; of equal ones one on the same rank, then a compute operation, then the
/// lowest index.
std::optional<std::uint32_t> binding_predecessor(const Trace& trace, const Predecessors& predecessors,
                                                 std::uint32_t span);

/// Classifies the idle interval of `rank` that ended because span `awaited` could begin (or, at the end of a step,
/// because span `awaited` was the last to end; `awaited_itself` then counts too). From the end backwards: time in which
/// a transfer or a collective ran that was waited for is exposed communication; once the chain reaches an operation
/// that computes on another rank, the rest is bubble; time for which the chain has no cause is `other`.
void add_idle(const Trace& trace, const Predecessors& predecessors, std::int32_t rank, Interval idle,
              std::uint32_t awaited, bool awaited_itself, const Phases& phases, Breakdown& seconds);

/// The same as stretches of time, in order; they cover `idle`.
struct IdlePiece {
  Interval time;
  TimeClass cause = TimeClass::other;
};
std::vector<IdlePiece> idle_pieces(const Trace& trace, const Predecessors& predecessors, std::int32_t rank,
                                   Interval idle, std::uint32_t awaited, bool awaited_itself, const Phases& phases);

}  // namespace stagecraft

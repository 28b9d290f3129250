#include "trace/critical_path.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace stagecraft {
namespace {

struct Link {
  std::uint32_t span = 0;
  Interval time;  // the part of the step that the span accounts for
};

double& of(Breakdown& seconds, TimeClass time_class) {
  return seconds[static_cast<std::size_t>(time_class)];
}

bool computes(const Span& span) {
  return is_compute(span.kind);
}

/// Path from `last` back to the begin of the step, latest first, and what lies between spans.
std::vector<Link> chain(const Trace& trace, const Predecessors& predecessors, Interval step, std::uint32_t last,
                        double& unexplained) {
  std::vector<Link> links;
  double until = step.end_s;
  std::optional<std::uint32_t> at = last;
  // Dependencies read from a file may form a cycle: a path has no more links than there are spans.
  while (at && until > step.begin_s && links.size() < trace.spans.size()) {
    const Span& span = trace.spans[*at];
    const double end = std::clamp(span.end_s, step.begin_s, until);
    const double begin = std::clamp(span.begin_s, step.begin_s, end);
    unexplained += until - end;
    links.push_back({*at, {begin, end}});
    until = begin;
    at = binding_predecessor(trace, predecessors, *at);
  }
  unexplained += until - step.begin_s;
  return links;
}

std::int32_t busiest(const Trace& trace, const std::vector<Link>& links) {
  std::map<std::int32_t, double> seconds;
  for (const Link& link : links) {
    const Span& span = trace.spans[link.span];
    if (computes(span)) seconds[span.rank] += link.time.end_s - link.time.begin_s;
  }
  std::int32_t best = -1;
  for (const auto& [rank, time] : seconds) {
    if (best < 0 || time > seconds[best]) best = rank;
  }
  return best;
}

SpanRange compute_lane_of(const Trace& trace, std::int32_t rank) {
  for (const SpanRange& lane : lanes_of(trace)) {
    if (trace.spans[lane.first].rank == rank && trace.spans[lane.first].lane == Lane::compute) return lane;
  }
  return {};
}

/// The gaps of a compute lane within the step, ascending.
std::vector<Interval> gaps(const Trace& trace, SpanRange lane, Interval step) {
  std::vector<Interval> idle;
  double free_since = step.begin_s;
  for (std::size_t i = lane.first; i < lane.last; ++i) {
    const Span& span = trace.spans[i];
    if (span.segment >= 0 || span.end_s <= step.begin_s || span.begin_s >= step.end_s) continue;
    if (span.begin_s > free_since) idle.push_back({free_since, span.begin_s});
    free_since = std::max(free_since, span.end_s);
  }
  if (free_since < step.end_s) idle.push_back({free_since, step.end_s});
  return idle;
}

}  // namespace

CriticalPath walk_critical_path(const Trace& trace, const Predecessors& predecessors, Interval step,
                                std::uint32_t last) {
  CriticalPath path;
  std::vector<Link> links = chain(trace, predecessors, step, last, of(path.seconds, TimeClass::other));
  std::reverse(links.begin(), links.end());
  path.busiest_rank = busiest(trace, links);
  const SpanRange lane = compute_lane_of(trace, path.busiest_rank);
  const Phases phases = phases_of(trace, lane, step);
  const std::vector<Interval> idle = gaps(trace, lane, step);

  std::size_t gap = 0;
  for (const Link& link : links) {
    const Span& span = trace.spans[link.span];
    path.spans.push_back(link.span);
    double busy = link.time.end_s - link.time.begin_s;
    if (computes(span) && span.rank != path.busiest_rank) {
      while (gap < idle.size() && idle[gap].end_s <= link.time.begin_s) ++gap;
      for (std::size_t i = gap; i < idle.size() && idle[i].begin_s < link.time.end_s; ++i) {
        const Interval both{std::max(idle[i].begin_s, link.time.begin_s), std::min(idle[i].end_s, link.time.end_s)};
        add_bubble(both, phases, path.seconds);
        busy -= both.end_s - both.begin_s;
      }
    }
    add_part_of(trace, span, busy, path.seconds);
  }
  return path;
}

}  // namespace stagecraft

#pragma once
// Traces written down span by span.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace stagecraft {

/// Spans are added in any order and sorted by `finish`; `after` names spans by the order in which they were added.
class HandMade {
 public:
  HandMade() {
    trace.producer = "test";
    trace.scenario = "hand-made";
    trace.kind = "estimated";
    trace.labels = {""};
  }

  std::uint32_t add(int rank, OpKind kind, int stage, int micro_batch, double begin_s, double end_s,
                    std::vector<std::uint32_t> after = {}) {
    Span span;
    span.rank = rank;
    span.kind = kind;
    span.stage = stage;
    span.micro_batch = micro_batch;
    span.begin_s = begin_s;
    span.end_s = end_s;
    span.lane = usual_lane(kind);
    trace.spans.push_back(span);
    const auto index = static_cast<std::uint32_t>(trace.spans.size() - 1);
    for (const std::uint32_t before : after) trace.dependencies.push_back({before, index});
    return index;
  }

  Trace finish() {
    for (const Span& span : trace.spans) {
      trace.end_s = std::max(trace.end_s, span.end_s);
      const bool known = std::any_of(trace.ranks.begin(), trace.ranks.end(),
                                     [&](const TraceRank& rank) { return rank.rank == span.rank; });
      if (!known) trace.ranks.push_back({span.rank, span.rank, 0, 1});
    }
    trace.step_end_s = {trace.end_s};
    sort_spans(trace);
    return trace;
  }

  Trace trace;
};

}  // namespace stagecraft

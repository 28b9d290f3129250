#include "trace/trace.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace stagecraft {
namespace {

bool in_lane_of(const Span& span, const Span& other) {
  return span.rank == other.rank && span.lane == other.lane;
}

/// Span indices grouped by (rank, lane), ascending, else in their order: a counting sort, since traces are written
/// nearly in order.
std::vector<std::uint32_t> by_lane(const Trace& trace) {
  constexpr std::size_t lanes = static_cast<std::size_t>(Lane::copy) + 1;
  std::vector<std::int32_t> ranks;
  for (const Span& span : trace.spans) {
    if (ranks.empty() || ranks.back() != span.rank) ranks.push_back(span.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::size_t at = 0;  // of the rank of the last span, nearly always that of the next one too
  const auto slot = [&](const Span& span) {
    if (ranks[at] != span.rank) {
      at = static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), span.rank) - ranks.begin());
    }
    return at * lanes + static_cast<std::size_t>(span.lane);
  };
  std::vector<std::uint32_t> next(ranks.size() * lanes + 1, 0);
  for (const Span& span : trace.spans) ++next[slot(span) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> order(trace.spans.size());
  for (std::size_t i = 0; i < trace.spans.size(); ++i)
    order[next[slot(trace.spans[i])]++] = static_cast<std::uint32_t>(i);
  return order;
}

}  // namespace

OpId op_id(const Span& span) {
  return {span.step, span.kind, has_stage(span.kind) ? Stage(span.stage) : Stage{},
          has_micro_batch(span.kind) ? MicroBatch(span.micro_batch) : MicroBatch{}, span.segment};
}

std::string short_name(const Trace& trace, const Span& span) {
  if (span.segment >= 0 && span.label != 0 && span.label < trace.labels.size()) return trace.labels[span.label];
  const std::string id = to_text(op_id(span));
  const std::size_t slash = id.find('/');
  return slash == std::string::npos ? id : id.substr(slash + 1);
}

std::vector<SpanRange> lanes_of(const Trace& trace) {
  std::vector<SpanRange> ranges;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= trace.spans.size(); ++i) {
    const Span& before = trace.spans[i - 1];
    if (i < trace.spans.size() && trace.spans[i].rank == before.rank && trace.spans[i].lane == before.lane) continue;
    ranges.push_back({first, i});
    first = i;
  }
  return ranges;
}

Predecessors predecessors_of(const Trace& trace) {
  Predecessors result;
  result.offsets.assign(trace.spans.size() + 1, 0);
  result.from.resize(trace.dependencies.size());
  for (const Dependency& edge : trace.dependencies) ++result.offsets[edge.to + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  std::vector<std::uint32_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (const Dependency& edge : trace.dependencies) result.from[next[edge.to]++] = edge.from;
  return result;
}

std::span<const std::uint32_t> predecessors_of(const Predecessors& all, std::size_t span) {
  return std::span(all.from).subspan(all.offsets[span], all.offsets[span + 1] - all.offsets[span]);
}

void sort_spans(Trace& trace) {
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [](const Span& s) {
      return std::tuple(s.begin_s, -s.end_s, s.step, s.stage, s.micro_batch, s.kind, s.segment);
    };
    return key(trace.spans[a]) < key(trace.spans[b]);
  };
  std::vector<std::uint32_t> order = by_lane(trace);
  for (std::size_t first = 0; first < order.size();) {
    const Span& front = trace.spans[order[first]];
    std::size_t last = first;
    while (last < order.size() && in_lane_of(trace.spans[order[last]], front)) ++last;
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first),
               end = order.begin() + static_cast<std::ptrdiff_t>(last);
    if (!std::is_sorted(begin, end, less)) std::stable_sort(begin, end, less);
    first = last;
  }
  std::vector<std::uint32_t> moved_to(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) moved_to[order[i]] = static_cast<std::uint32_t>(i);
  order = {};
  for (Dependency& edge : trace.dependencies) edge = {moved_to[edge.from], moved_to[edge.to]};
  // In place, since a second set of spans would be most of a simulation's memory: every swap puts one where it belongs.
  for (std::size_t i = 0; i < moved_to.size(); ++i) {
    while (moved_to[i] != i) {
      const std::size_t to = moved_to[i];
      std::swap(trace.spans[i], trace.spans[to]);
      std::swap(moved_to[i], moved_to[to]);
    }
  }
}

InnerCommunication inner_of(const Trace& trace, const Span& span) {
  if (span.inner >= trace.inner.size()) return {};
  InnerCommunication inner = trace.inner[span.inner];
  double left = std::max(0.0, span.end_s - span.begin_s - span.tensor_s);
  for (double* part : {&inner.context_s, &inner.expert_s, &inner.data_s, &inner.copies_s}) {
    *part = std::clamp(*part, 0.0, left);
    left -= *part;
  }
  return inner;
}

std::uint16_t index_of(std::vector<InnerCommunication>& table, const InnerCommunication& inner) {
  if (table.empty()) table.emplace_back();
  const auto found = std::find(table.begin(), table.end(), inner);
  const auto index = static_cast<std::size_t>(found - table.begin());
  if (index > std::numeric_limits<std::uint16_t>::max()) {
    throw std::length_error("a trace tells at most 65,535 mixtures of communication inside operations apart");
  }
  if (found == table.end()) table.push_back(inner);
  return static_cast<std::uint16_t>(index);
}

}  // namespace stagecraft

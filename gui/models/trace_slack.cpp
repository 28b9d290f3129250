#include "gui/models/trace_slack.hpp"

#include <algorithm>
#include <numeric>

#include "trace/level_of_detail.hpp"

namespace stagecraft::gui {
namespace {

/// The next whole operation on the same compute lane, or no_span.
std::vector<std::uint32_t> next_on_lane(const Trace& trace) {
  std::vector<std::uint32_t> next(trace.spans.size(), no_span);
  std::uint32_t before = no_span;
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.segment >= 0 || span.lane != Lane::compute) continue;
    if (before != no_span && trace.spans[before].rank == span.rank && trace.spans[before].end_s <= span.begin_s) {
      next[before] = i;
    }
    before = i;
  }
  return next;
}

}  // namespace

Predecessors successors_of(const Trace& trace) {
  Predecessors result;
  result.offsets.assign(trace.spans.size() + 1, 0);
  result.from.resize(trace.dependencies.size());
  for (const Dependency& edge : trace.dependencies) ++result.offsets[edge.from + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  std::vector<std::uint32_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (const Dependency& edge : trace.dependencies) result.from[next[edge.from]++] = edge.to;
  return result;
}

std::vector<float> slack_of(const Trace& trace, const Predecessors& before, const Predecessors& after) {
  const std::size_t count = trace.spans.size();
  const std::vector<std::uint32_t> next = next_on_lane(trace);
  std::vector<std::uint32_t> previous(count, no_span), waiting(count, 0), ready;
  std::vector<double> latest_end(count, trace.end_s);
  for (std::uint32_t i = 0; i < count; ++i) {
    waiting[i] = after.offsets[i + 1] - after.offsets[i] + (next[i] != no_span ? 1 : 0);
    if (next[i] != no_span) previous[next[i]] = i;
    if (waiting[i] == 0) ready.push_back(i);
  }
  std::vector<float> slack(count, 0);
  while (!ready.empty()) {
    const std::uint32_t i = ready.back();
    ready.pop_back();
    const Span& span = trace.spans[i];
    if (span.segment < 0) slack[i] = static_cast<float>(std::max(0.0, latest_end[i] - span.end_s));
    const double latest_begin = latest_end[i] - (span.end_s - span.begin_s);
    const auto relax = [&](std::uint32_t earlier) {
      latest_end[earlier] = std::min(latest_end[earlier], latest_begin);
      if (--waiting[earlier] == 0) ready.push_back(earlier);
    };
    for (const std::uint32_t earlier : predecessors_of(before, i)) relax(earlier);
    if (previous[i] != no_span) relax(previous[i]);
  }
  return slack;
}

}  // namespace stagecraft::gui

#include "estimate/steady_state.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

constexpr auto optimizer = static_cast<std::size_t>(TimeClass::optimizer);
constexpr auto reduction = static_cast<std::size_t>(TimeClass::data_communication);
constexpr auto steady = static_cast<std::size_t>(TimeClass::bubble_steady);

/// Ends of the backward passes through the first stage in the first step, ascending.
std::vector<double> backward_ends(const Trace& trace, std::int32_t micro_batches) {
  std::vector<double> ends(static_cast<std::size_t>(micro_batches), 0);
  for (const Span& span : trace.spans) {
    const bool counts = span.stage == 0 && span.step == 0 && span.segment < 0 && span.micro_batch >= 0 &&
                        span.micro_batch < micro_batches && class_of(span.kind) == TimeClass::backward;
    if (!counts) continue;
    double& end = ends[static_cast<std::size_t>(span.micro_batch)];
    end = std::max(end, span.end_s);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

double seconds_of(OpKind kind, const Trace& trace, std::int32_t rank) {
  double seconds = 0;
  for (const Span& span : trace.spans) {
    const bool counts = span.rank == rank && span.step == 0 && span.segment < 0 && span.kind == kind;
    if (counts) seconds += span.end_s - span.begin_s;
  }
  return seconds;
}

void scale(Breakdown& seconds, double factor) {
  for (double& part : seconds) part *= factor;
}

}  // namespace

SteadySummary summarise(const Trace& trace, const Schedule& schedule) {
  if (!schedule.asynchronous) return {summarise(trace), false};
  const std::int32_t p = schedule.shape.ranks, m = schedule.shape.micro_batches;
  if (m < 2 * p + 1) return {summarise(trace), true};
  const std::vector<double> ends = backward_ends(trace, m);
  const auto first = static_cast<std::size_t>(p - 1), last = static_cast<std::size_t>(m - p - 1);

  Summary summary = summarise_between(trace, ends[first], ends[last]);
  const double factor = static_cast<double>(m) / static_cast<double>(last - first);
  std::vector<double> once_per_batch;
  double reduces = 0;
  for (RankSummary& rank : summary.ranks) {
    scale(rank.seconds, factor);
    const double updates = seconds_of(OpKind::optimizer_step, trace, rank.rank.rank);
    once_per_batch.push_back(std::max(0.0, updates - rank.seconds[optimizer]));
    reduces = std::max(reduces, seconds_of(OpKind::reduce_grad, trace, rank.rank.rank));
  }
  const double longest = once_per_batch.empty() ? 0 : *std::max_element(once_per_batch.begin(), once_per_batch.end());
  summary.step_s = summary.step_s * factor + longest;
  const double not_hidden = std::max(0.0, reduces - summary.step_s);
  summary.step_s += not_hidden;
  scale(summary.critical_path.seconds, factor);
  summary.critical_path.seconds[optimizer] += longest;
  summary.critical_path.seconds[reduction] += not_hidden;

  summary.mean = {};
  double ranks = 0;
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    RankSummary& rank = summary.ranks[i];
    rank.seconds[optimizer] += once_per_batch[i];
    rank.seconds[steady] += longest - once_per_batch[i];
    rank.seconds[reduction] += not_hidden;
    ranks += rank.rank.represents;
    for (std::size_t c = 0; c < time_class_count; ++c) summary.mean[c] += rank.rank.represents * rank.seconds[c];
  }
  scale(summary.mean, 1 / std::max(ranks, 1.0));
  summary.bubble_fraction = summary.step_s > 0 ? bubble(summary.mean) / summary.step_s : 0;
  return {std::move(summary), false};
}

}  // namespace stagecraft

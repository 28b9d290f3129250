#include "trace/align.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "trace/pair_ranks.hpp"
#include "trace/summary.hpp"

namespace stagecraft {
namespace {

/// Rank as the prediction numbers it, operation, how often it came before in its step.
using Key = std::tuple<std::int32_t, OpId, std::uint32_t>;
/// Its number there, for a rank of the measurement.
using NumberThere = std::map<std::int32_t, std::int32_t>;
constexpr std::int32_t no_partner = std::numeric_limits<std::int32_t>::max();

struct Entry {
  Key key;
  std::uint32_t span = 0;
};

/// Whole operations of the last `steps` steps, numbered from the first of these, in order of their keys. `number`:
/// null for the prediction itself.
std::vector<Entry> operations_of(const Trace& trace, std::int32_t steps, const NumberThere* number) {
  std::vector<Entry> entries;
  const auto rank_of = [number](const Span& span) {
    if (number == nullptr) return span.rank;
    const auto there = number->find(span.rank);
    return there == number->end() ? no_partner : there->second;
  };
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    const std::int32_t step = span.step - (trace.steps - steps);
    if (span.segment >= 0 || step < 0) continue;
    OpId id = op_id(span);
    id.step = step;
    entries.push_back({{rank_of(span), id, 0}, i});
  }
  const auto earlier = [&](const Entry& a, const Entry& b) {
    return std::tuple(std::get<0>(a.key), std::get<1>(a.key), trace.spans[a.span].begin_s, a.span) <
           std::tuple(std::get<0>(b.key), std::get<1>(b.key), trace.spans[b.span].begin_s, b.span);
  };
  std::sort(entries.begin(), entries.end(), earlier);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const Key& before = entries[i - 1].key;
    Key& here = entries[i].key;
    if (std::get<0>(before) == std::get<0>(here) && std::get<1>(before) == std::get<1>(here)) {
      std::get<2>(here) = std::get<2>(before) + 1;
    }
  }
  return entries;
}

double seconds_of(const Span& span) {
  return span.end_s - span.begin_s;
}

void join(const Trace& predicted, const Trace& measured, const std::vector<RankPair>& ranks, Alignment& result) {
  const std::int32_t steps = std::min(predicted.steps, measured.steps);
  NumberThere number;
  for (const RankPair& pair : ranks) number.emplace(pair.b, pair.a);
  const std::vector<Entry> a = operations_of(predicted, steps, nullptr), b = operations_of(measured, steps, &number);
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].key == b[j].key) {
      result.pairs.push_back({a[i++].span, b[j++].span});
    } else if (a[i].key < b[j].key) {
      ++result.only_predicted;
      ++i;
    } else {
      ++result.only_measured;
      ++j;
    }
  }
  result.only_predicted += a.size() - i;
  result.only_measured += b.size() - j;
}

double percentile_95(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto index = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(values.size()))) - 1;
  return values[std::min(index, values.size() - 1)];
}

void add_kinds(const Trace& predicted, const Trace& measured, Alignment& result) {
  std::vector<double> durations;
  durations.reserve(predicted.spans.size());
  for (const Span& span : predicted.spans) durations.push_back(seconds_of(span));
  const double as_predicted = longest_path_s(predicted, durations);
  for (std::size_t k = 0; k < op_kind_count; ++k) {
    const auto kind = static_cast<OpKind>(k);
    KindError error;
    error.kind = kind;
    std::vector<double> single;
    std::vector<double> replaced = durations;
    for (const AlignedPair& pair : result.pairs) {
      if (predicted.spans[pair.predicted].kind != kind) continue;
      const double p = durations[pair.predicted], m = seconds_of(measured.spans[pair.measured]);
      ++error.operations;
      error.predicted_s += p;
      error.measured_s += m;
      if (m > 0) single.push_back(std::abs(p - m) / m);
      replaced[pair.predicted] = m;
    }
    if (error.operations == 0) continue;
    if (error.measured_s > 0) error.mean_error = (error.predicted_s - error.measured_s) / error.measured_s;
    error.p95_error = percentile_95(std::move(single));
    error.explains_s = longest_path_s(predicted, replaced) - as_predicted;
    result.kinds.push_back(error);
  }
}

double mean_step_s(const Trace& trace) {
  return (trace.end_s - trace.begin_s) / trace.steps;
}

}  // namespace

double longest_path_s(const Trace& trace, const std::vector<double>& duration_s) {
  std::vector<std::vector<std::uint32_t>> successors(trace.spans.size());
  std::vector<std::uint32_t> waiting(trace.spans.size());
  for (const Dependency& edge : trace.dependencies) {
    successors[edge.from].push_back(edge.to);
    ++waiting[edge.to];
  }
  std::vector<double> start(trace.spans.size());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  double end = 0;
  while (!ready.empty()) {
    const std::uint32_t span = ready.back();
    ready.pop_back();
    const double done = start[span] + duration_s[span];
    end = std::max(end, done);
    for (const std::uint32_t next : successors[span]) {
      start[next] = std::max(start[next], done);
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  return end;
}

double peak_memory_bytes(const Trace& trace, std::int32_t rank) {
  // A trace that splits memory by class has its sum as a series too.
  const bool by_class = std::any_of(trace.counters.begin(), trace.counters.end(), [rank](const CounterSeries& series) {
    return series.rank == rank && series.name == "memory/parameters";
  });
  struct Change {
    double time_s, bytes;
  };
  std::vector<Change> changes;
  for (const CounterSeries& series : trace.counters) {
    if (series.rank != rank || !series.name.starts_with("memory/") || series.name == "memory/overhead") continue;
    if (by_class && series.name == "memory/total") continue;
    double before = 0;
    for (std::size_t i = 0; i < series.value.size(); ++i) {
      changes.push_back({series.time_s[i], series.value[i] - before});
      before = series.value[i];
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.time_s < b.time_s; });
  double sum = 0, peak = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    sum += changes[i].bytes;
    // Changes of one moment belong together.
    if (i + 1 == changes.size() || changes[i + 1].time_s > changes[i].time_s) peak = std::max(peak, sum);
  }
  return peak;
}

namespace {

double bubble_of(const Trace& trace) {
  double fraction = summarise_between(trace, trace.begin_s, trace.end_s).bubble_fraction;
  for (const Provenance& one : trace.provenance) {
    double waiting = 0;
    const char* const end = one.value.data() + one.value.size();
    if (one.key == waiting_key && std::from_chars(one.value.data(), end, waiting).ec == std::errc() && waiting > 0)
      fraction += std::min(waiting, 1.0);
  }
  return fraction;
}

}  // namespace

Alignment align(const Trace& predicted, const Trace& measured) {
  Alignment result;
  const std::vector<RankPair> ranks = pair_ranks(predicted, measured);
  join(predicted, measured, ranks, result);
  result.predicted_step_s = mean_step_s(predicted);
  result.measured_step_s = mean_step_s(measured);
  result.predicted_bubble = bubble_of(predicted);
  result.measured_bubble = bubble_of(measured);
  add_kinds(predicted, measured, result);
  for (const RankPair& pair : ranks) {
    const RankMemory memory{pair.a, peak_memory_bytes(predicted, pair.a), peak_memory_bytes(measured, pair.b)};
    if (memory.predicted_bytes > 0 && memory.measured_bytes > 0) result.memory.push_back(memory);
  }
  return result;
}

}  // namespace stagecraft

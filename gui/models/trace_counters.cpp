#include "gui/models/trace_counters.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "memory/memory_class.hpp"

namespace stagecraft::gui {
namespace {

constexpr std::string_view memory_prefix = "memory/", link_prefix = "link/", total_name = "total";

std::size_t stacking_order(const std::string& name) {
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    if (name == to_text(static_cast<MemoryClass>(i))) return i;
  }
  return memory_class_count;
}

/// In the order of time and with amounts that can be drawn: a file may hold any numbers.
CounterSeries cleaned(const CounterSeries& series) {
  CounterSeries clean{series.name, series.unit, series.rank, {}, {}};
  std::vector<std::size_t> order(std::min(series.time_s.size(), series.value.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return series.time_s[a] < series.time_s[b]; });
  for (const std::size_t i : order) {
    constexpr double most = 1e24;
    clean.time_s.push_back(series.time_s[i]);
    clean.value.push_back(series.value[i] >= 0 ? std::min(series.value[i], most) : 0);  // not a number: nothing
  }
  return clean;
}

MemoryCurve merged(std::int32_t rank, const std::vector<CounterSeries>& all) {
  std::vector<const CounterSeries*> series;
  for (const CounterSeries& one : all) series.push_back(&one);
  const auto name_of = [](const CounterSeries* s) { return s->name.substr(memory_prefix.size()); };
  const bool by_class =
      std::any_of(series.begin(), series.end(), [&](const CounterSeries* s) { return name_of(s) != total_name; });
  if (by_class) std::erase_if(series, [&](const CounterSeries* s) { return name_of(s) == total_name; });
  std::stable_sort(series.begin(), series.end(), [&](const CounterSeries* a, const CounterSeries* b) {
    return stacking_order(name_of(a)) < stacking_order(name_of(b));
  });
  MemoryCurve curve;
  curve.rank = rank;
  for (const CounterSeries* s : series) curve.time_s.insert(curve.time_s.end(), s->time_s.begin(), s->time_s.end());
  std::sort(curve.time_s.begin(), curve.time_s.end());
  curve.time_s.erase(std::unique(curve.time_s.begin(), curve.time_s.end()), curve.time_s.end());
  curve.total.assign(curve.time_s.size(), 0);
  for (const CounterSeries* s : series) {
    std::vector<double>& bytes = curve.bytes.emplace_back(curve.time_s.size(), 0.0);
    std::size_t next = 0;
    double value = 0;
    for (std::size_t i = 0; i < curve.time_s.size(); ++i) {
      while (next < s->time_s.size() && s->time_s[next] <= curve.time_s[i]) value = s->value[next++];
      bytes[i] = value;
      curve.total[i] += value;
    }
    const bool ever = std::any_of(bytes.begin(), bytes.end(), [](double b) { return b > 0; });
    if (!ever) {
      curve.bytes.pop_back();
      continue;
    }
    curve.classes.push_back(name_of(s));
  }
  curve.peak = static_cast<std::size_t>(std::max_element(curve.total.begin(), curve.total.end()) - curve.total.begin());
  return curve;
}

}  // namespace

std::vector<MemoryCurve> memory_curves(const Trace& trace) {
  std::map<std::int32_t, std::vector<CounterSeries>> of_rank;
  for (const CounterSeries& series : trace.counters) {
    if (series.rank >= 0 && series.name.starts_with(memory_prefix) && !series.time_s.empty()) {
      of_rank[series.rank].push_back(cleaned(series));
    }
  }
  std::vector<MemoryCurve> curves;
  for (const auto& [rank, series] : of_rank) {
    MemoryCurve curve = merged(rank, series);
    if (curve.classes.empty()) continue;
    curve.end_s = std::max(trace.end_s, curve.time_s.back());
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<LinkCurve> link_curves(const Trace& trace) {
  std::vector<LinkCurve> curves;
  for (const CounterSeries& series : trace.counters) {
    if (!series.name.starts_with(link_prefix) || series.time_s.empty()) continue;
    CounterSeries clean = cleaned(series);
    curves.push_back({series.name.substr(link_prefix.size()), std::move(clean.time_s), std::move(clean.value)});
  }
  std::sort(curves.begin(), curves.end(), [](const LinkCurve& a, const LinkCurve& b) { return a.name < b.name; });
  return curves;
}

std::size_t point_at(const std::vector<double>& time_s, double t) {
  const auto later = std::upper_bound(time_s.begin(), time_s.end(), t);
  return later == time_s.begin() ? time_s.size() : static_cast<std::size_t>(later - time_s.begin() - 1);
}

double bytes_between(const LinkCurve& curve, double begin_s, double end_s) {
  double bytes = 0;
  std::size_t i = point_at(curve.time_s, begin_s);
  if (i == curve.time_s.size()) i = 0;
  for (; i < curve.time_s.size() && curve.time_s[i] < end_s; ++i) {
    const double from = std::max(curve.time_s[i], begin_s);
    const double to = i + 1 < curve.time_s.size() ? std::min(curve.time_s[i + 1], end_s) : end_s;
    if (to > from) bytes += (to - from) * curve.bytes_per_s[i];
  }
  return bytes;
}

}  // namespace stagecraft::gui

#include "validate/collective_law_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/input_error.hpp"
#include "validate/least_squares.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t fewest_sizes = 6, fewest_small = 3, fewest_large = 4;
constexpr double never_faster_us_per_MB = 1e12;  // of a law for small sizes that does not count

/// Two parts of one law: t = a + b sqrt(S r) + c S f for large sizes, t = d + e S for small ones.
struct Parts {
  LinearFit large;
  std::optional<LinearFit> small;
  double loss = 0;
};

double ring_share(const TimedCollective& time, std::int32_t most_ranks) {
  return std::sqrt((time.ranks_per_node - 1) / std::max(1.0, most_ranks - 1.0));
}

std::vector<double> large_row(const TimedCollective& time, std::int32_t most_ranks) {
  const double wire = time.bytes * nccl_bus_factor(time.op, time.ranks_per_node);
  return {1 / time.seconds, std::sqrt(time.bytes) * ring_share(time, most_ranks) / time.seconds, wire / time.seconds};
}

double value(const std::vector<double>& row, const LinearFit& fit) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] * fit.values[i];
  return sum;
}

/// Predicted over measured.
double ratio(const TimedCollective& time, const Parts& parts, std::int32_t most_ranks) {
  const double large = value(large_row(time, most_ranks), parts.large);
  if (!parts.small) return large;
  return std::min(large, value({1 / time.seconds, time.bytes / time.seconds}, *parts.small));
}

/// `from`: the least size that follows the law of large ones.
std::optional<Parts> fit_parts(const std::vector<TimedCollective>& times, double from, std::int32_t most_ranks) {
  std::vector<std::vector<double>> large, small;
  for (const TimedCollective& time : times) {
    if (time.bytes >= from) {
      large.push_back(large_row(time, most_ranks));
    } else {
      small.push_back({1 / time.seconds, time.bytes / time.seconds});
    }
  }
  const std::optional<LinearFit> above = fit_relative(large);
  if (!above || above->values[2] <= 0) return std::nullopt;
  Parts parts{*above, std::nullopt, 0};
  if (!small.empty()) {
    parts.small = fit_relative(small);
    if (!parts.small || parts.small->values[1] <= 0) return std::nullopt;
  }
  for (const TimedCollective& time : times) {
    const double error = ratio(time, parts, most_ranks) - 1;
    parts.loss += error * error;
  }
  return parts;
}

Constant constant_of(double value, double half_width) {
  const double error = value > 0 ? std::clamp(half_width / value, 0.001, 1.0) : 1.0;
  return {value, error, Evidence::measured, ""};
}

Interval around(double value, double half_width, double unit) {
  return {std::max(0.0, value - half_width) * unit, (value + half_width) * unit};
}

double p90_error(const std::vector<TimedCollective>& times, const Parts& parts, std::int32_t most_ranks) {
  std::vector<double> errors;
  for (const TimedCollective& time : times) errors.push_back(ratio(time, parts, most_ranks) - 1);
  return error_statistics(errors)->p90;
}

}  // namespace

CollectiveLawFit fit_collective_law(const std::vector<TimedCollective>& times, LinkKind links) {
  std::set<double> sizes;
  std::int32_t most_ranks = 0, fewest_ranks = times.front().ranks_per_node;
  for (const TimedCollective& time : times) {
    sizes.insert(time.bytes);
    most_ranks = std::max(most_ranks, time.ranks_per_node);
    fewest_ranks = std::min(fewest_ranks, time.ranks_per_node);
  }
  const std::vector<double> ordered(sizes.begin(), sizes.end());
  if (ordered.size() < fewest_sizes) {
    throw InputError(InputProblem{times.front().source, 0, 0, "",
                                  fmt::format("{} sizes of {}", ordered.size(), to_text(times.front().op)),
                                  fmt::format("at least {}, from small to large (-b 8 -e 8G -f 2)", fewest_sizes), ""});
  }
  std::optional<Parts> best = fit_parts(times, 0, most_ranks);
  for (std::size_t i = fewest_small; i + fewest_large <= ordered.size(); ++i) {
    const std::optional<Parts> parts = fit_parts(times, ordered[i], most_ranks);
    // Two more constants have to earn their place.
    if (parts && (!best || parts->loss + 1e-12 < (best->small ? 1.0 : 0.98) * best->loss)) best = parts;
  }
  const auto largest =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  constexpr double least_share = 0.01;  // of its time, that the bytes of the largest size take
  if (!best || large_row(*largest, most_ranks)[2] * best->large.values[2] < least_share) {
    throw InputError(InputProblem{times.front().source, 0, 0, "",
                                  fmt::format("times of {} that do not grow with the bytes", to_text(times.front().op)),
                                  "latency, a term with the root of the bytes, and one with the bytes", ""});
  }
  const LinearFit& large = best->large;
  CollectiveLawFit fit;
  CollectiveProfile& law = fit.law;
  law.links = links;
  law.bytes = {ordered.front(), ordered.back()};
  law.ranks = {static_cast<double>(fewest_ranks), static_cast<double>(most_ranks)};
  law.latency_us = constant_of(large.values[0] * 1e6, large.half_widths[0] * 1e6);
  law.sqrt_us_per_byte = constant_of(large.values[1] * 1e6, large.half_widths[1] * 1e6);
  law.bus_GBps = constant_of(1e-9 / large.values[2], 1e-9 / large.values[2] * large.half_widths[2] / large.values[2]);
  law.bus_GBps.relative_error = std::clamp(p90_error(times, *best, most_ranks), law.bus_GBps.relative_error, 1.0);
  const double slowest = large.values[2] + large.half_widths[2];
  const double fastest = std::max(large.values[2] - large.half_widths[2], large.values[2] / 10);
  fit.intervals = {around(large.values[0], large.half_widths[0], 1e6),
                   around(large.values[1], large.half_widths[1], 1e6),
                   {1e-9 / slowest, 1e-9 / fastest}};
  fit.small_sizes = best->small.has_value();
  if (best->small) {
    const LinearFit& small = *best->small;
    law.low_latency_us = constant_of(small.values[0] * 1e6, small.half_widths[0] * 1e6);
    law.low_latency_us_per_MB = constant_of(small.values[1] * 1e12, small.half_widths[1] * 1e12);
    fit.intervals.push_back(around(small.values[0], small.half_widths[0], 1e6));
    fit.intervals.push_back(around(small.values[1], small.half_widths[1], 1e12));
  } else {
    law.low_latency_us = law.latency_us;
    law.low_latency_us_per_MB = constant_of(never_faster_us_per_MB, 0);
    fit.intervals.push_back(fit.intervals[0]);
    fit.intervals.push_back({never_faster_us_per_MB, never_faster_us_per_MB});
  }
  return fit;
}

}  // namespace stagecraft

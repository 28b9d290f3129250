#include "exec/profile/measured_segment.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stagecraft {

void add_segment(Profile& profile, TimedSegment segment) {
  const bool known = std::any_of(profile.segments.begin(), profile.segments.end(), [&](const TimedSegment& other) {
    return other.segment == segment.segment && other.batch == segment.batch && other.m == segment.m &&
           other.n == segment.n && other.k == segment.k && other.bytes == segment.bytes;
  });
  if (!known) profile.segments.push_back(std::move(segment));
}

namespace {

/// `value` comes with the spread of the sorted `values` around it.
Typical with_spread(double value, const std::vector<double>& values) {
  const std::size_t count = values.size();
  const double spread = values[count * 3 / 4] - values[count / 4];
  return {value, value > 0 ? spread / 2 / value : 0};
}

}  // namespace

Typical mean_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return with_spread(sum / static_cast<double>(values.size()), values);
}

Typical median_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return with_spread(values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2, values);
}

double spread_of(const std::vector<std::vector<double>>& seconds) {
  if (seconds.size() < 2) return 0;
  std::size_t windows = seconds.front().size();
  for (const std::vector<double>& of_rank : seconds) windows = std::min(windows, of_rank.size());
  const auto ranks = static_cast<double>(seconds.size());
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t w = 0; w < windows; ++w) {
    double mean = 0, squares = 0;
    for (const std::vector<double>& of_rank : seconds) mean += of_rank[w] / ranks;
    for (const std::vector<double>& of_rank : seconds) squares += (of_rank[w] - mean) * (of_rank[w] - mean);
    if (mean <= 0) continue;
    sum += squares / (ranks - 1) / (mean * mean);
    ++counted;
  }
  return counted > 0 ? std::sqrt(sum / static_cast<double>(counted)) : 0;
}

}  // namespace stagecraft

#include "exec/profile/measured_segment.hpp"

#include <algorithm>
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

}  // namespace stagecraft

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

Typical typical_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const double spread = values[count * 3 / 4] - values[count / 4];
  const auto beyond = std::upper_bound(values.begin(), values.end(), 2 * values[count / 2]);
  const auto kept = static_cast<double>(beyond - values.begin());
  const double mean = std::accumulate(values.begin(), beyond, 0.0) / kept;
  return {mean, mean > 0 ? spread / 2 / mean : 0};
}

}  // namespace stagecraft

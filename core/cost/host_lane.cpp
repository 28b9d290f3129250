#include "cost/host_lane.hpp"

#include <algorithm>
#include <cmath>

#include "cost/straggler.hpp"

namespace stagecraft {

std::vector<double> gaps_between_launches(std::span<const LaneStep> part) {
  const auto first = std::find_if(part.begin(), part.end(), [](const LaneStep& step) { return step.waits; });
  if (first == part.end()) return {};
  std::vector<double> gaps(part.size(), 0);
  // From one wait round to the same wait: both lanes start together.
  const auto start = static_cast<std::size_t>(first - part.begin());
  double gpu = 0, host = 0;
  for (std::size_t n = 1; n <= part.size(); ++n) {
    const std::size_t at = (start + n) % part.size();
    const LaneStep& step = part[at];
    if (step.waits) {
      gaps[at] = std::max(0.0, host - gpu);
      gpu = host = std::max(gpu, host) + step.gpu_s;
      continue;
    }
    const double each = std::max<std::int32_t>(1, step.launches);
    const double begin = std::max(gpu, host + step.host_s / each);
    const double end = std::max(begin + step.gpu_s, host + step.host_s + step.gpu_s / each);
    gaps[at] = end - gpu - step.gpu_s;
    gpu = end;
    host += step.host_s;
  }
  return gaps;
}

double expected_collections(const HostSpec& host, double replicas, double ranks) {
  if (host.collection_pause_s <= 0) return 0;
  const double per_step = 1 / host.collection_every;
  if (host.collects_together) return per_step;
  const double mean = ranks * per_step;
  constexpr double many = 1000;  // a Poisson number is normal from there on
  if (mean > many) return mean + std::sqrt(mean) * expected_maximum(replicas);
  // sum over k of P(maximum > k); beyond mean + 12 deviations nothing is left.
  const double last = mean + 12 * std::sqrt(mean) + 30;
  double expected = 0, log_term = -mean, below = 0;
  for (double k = 0; k <= last; ++k) {
    if (k > 0) log_term += std::log(mean / k);
    below = std::min(1.0, below + std::exp(log_term));
    expected += 1 - std::pow(below, replicas);
  }
  return expected;
}

}  // namespace stagecraft

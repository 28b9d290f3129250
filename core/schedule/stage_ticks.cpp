#include "schedule/stage_ticks.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/generators.hpp"

namespace stagecraft {

namespace {

constexpr int most_decimals = 9;
constexpr double largest = 1099511627776.0;       // 2^40 ticks: sums over 2^22 passes stay below 2^63
constexpr double rounded_largest = 1073741824.0;  // 2^30
constexpr double printing_noise = 1e-12;          // what a decimal number loses as a double, relative

bool is_whole(double value) {
  return std::abs(value - std::round(value)) <= printing_noise * std::max(1.0, value);
}

/// Ticks per unit of time.
double scale_for(const std::vector<double>& times) {
  const double longest = *std::max_element(times.begin(), times.end());
  double scale = 1;
  for (int decimals = 0; decimals <= most_decimals && longest * scale <= largest; ++decimals, scale *= 10) {
    if (std::all_of(times.begin(), times.end(), [&](double t) { return is_whole(t * scale); })) return scale;
  }
  return longest > 0 ? rounded_largest / longest : 1;
}

}  // namespace

ActivationLimit activation_limit(double chunks_alive, double kept_until_weight_grad) {
  constexpr auto whole = static_cast<double>(ActivationLimit::whole);
  return {static_cast<std::int64_t>(std::floor(chunks_alive * whole)), std::llround(kept_until_weight_grad * whole)};
}

StageTicks stage_ticks(const StageTimes& times, const PipelineShape& shape) {
  std::vector<double> all = {1.0, times.send};
  for (const auto* some : {&times.forward, &times.input_grad, &times.weight_grad}) {
    all.insert(all.end(), some->begin(), some->end());
  }
  const double scale = scale_for(all);
  const auto stages = static_cast<std::size_t>(shape.ranks) * static_cast<std::size_t>(shape.chunks);
  const auto ticks = [&](double time) { return static_cast<std::int64_t>(std::llround(time * scale)); };
  const auto per_stage = [&](const std::vector<double>& given) {
    std::vector<std::int64_t> result(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      // Times of a full stage are those of v chunks: everything else is multiplied by v instead of dividing these.
      if (given.size() <= 1) {
        result[s] = ticks(given.empty() ? 1.0 : given[0]);
      } else {
        result[s] = ticks(given[s]) * shape.chunks;
      }
    }
    return result;
  };
  return {per_stage(times.forward), per_stage(times.input_grad), per_stage(times.weight_grad),
          ticks(times.send) * shape.chunks};
}

}  // namespace stagecraft

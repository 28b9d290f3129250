#include "estimate/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/normal_draw.hpp"

namespace stagecraft {
namespace {

constexpr std::int64_t most_replicas = 64;

std::vector<bool> computing_nodes(const Schedule& schedule, const Graph& graph) {
  std::vector<bool> computes;
  for (std::uint32_t node = 0; node < node_count(graph); ++node) {
    computes.push_back(is_compute(op_at(schedule, graph, node).kind));
  }
  return computes;
}

/// A draw of a node takes some 100 ns.
std::int64_t replicas_drawn(std::int64_t replicas, std::int64_t samples, std::size_t nodes) {
  constexpr double most_draws = 5e7;
  const double affordable =
      most_draws / (static_cast<double>(samples) * static_cast<double>(std::max<std::size_t>(nodes, 1)));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(affordable), 1,
                                  std::clamp<std::int64_t>(replicas, 1, most_replicas));
}

double percentile(const std::vector<double>& sorted, double share) {
  const auto index = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size() - 1, index == 0 ? 0 : index - 1)];
}

}  // namespace

JitteredSteps jittered_steps(const JitterSpec& jitter, const NodeCosts& costs, const Schedule& schedule,
                             const Graph& graph, std::int64_t replicas) {
  JitteredSteps result;
  if (jitter.spread <= 0) return result;
  result.replicas = replicas_drawn(replicas, jitter.samples, costs.expected_s.size());
  NodeTimes times;
  longest_path(graph, costs.expected_s, times);
  const double steady_s = times.makespan_s;
  const std::vector<bool> computes = computing_nodes(schedule, graph);
  // Of a lognormal factor exp(mu + sigma z) with mean 1 and standard deviation s: sigma^2 = ln(1 + s^2), mu =
  // -sigma^2/2.
  const double variance = std::log1p(jitter.spread * jitter.spread), sigma = std::sqrt(variance);
  std::mt19937_64 draw(static_cast<std::uint64_t>(jitter.seed));
  std::vector<double> durations = costs.expected_s, steps;
  for (std::int64_t sample = 0; sample < jitter.samples; ++sample) {
    double slowest = 0;
    for (std::int64_t replica = 0; replica < result.replicas; ++replica) {
      for (std::size_t node = 0; node < durations.size(); ++node) {
        if (computes[node])
          durations[node] = costs.expected_s[node] * std::exp(sigma * normal_draw(draw) - variance / 2);
      }
      longest_path(graph, durations, times);
      slowest = std::max(slowest, times.makespan_s);
    }
    steps.push_back(slowest);
    result.mean_s += slowest / static_cast<double>(jitter.samples);
  }
  std::sort(steps.begin(), steps.end());
  result.median_s = percentile(steps, 0.5);
  result.p95_s = percentile(steps, 0.95);
  result.slowdown = steady_s > 0 ? result.mean_s / steady_s : 1;
  return result;
}

}  // namespace stagecraft

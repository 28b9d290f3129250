#include "plan/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/normal_draw.hpp"

namespace stagecraft {
namespace {

double busiest_of(std::vector<double>& loads, std::size_t ranks, double capacity) {
  double all = 0;
  for (const double load : loads) all += load;
  const double even = all / static_cast<double>(loads.size());
  const std::size_t each = loads.size() / ranks;
  double largest = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double sum = 0;
    for (std::size_t i = 0; i < each; ++i) {
      const double load = loads[rank * each + i] / even;
      sum += capacity > 0 ? std::min(load, capacity) : load;
    }
    largest = std::max(largest, sum / static_cast<double>(each));
  }
  return largest;
}

}  // namespace

double busiest_expert_rank(const Plan& plan) {
  const ExpertsSpec& experts = plan.run.experts;
  const MoeSpec& moe = plan.model.moe;
  const auto ranks = static_cast<std::size_t>(plan.degrees.expert);
  if (experts.imbalance <= 0 || moe.experts < 1 || ranks < 2) return 1;
  std::mt19937_64 draw(static_cast<std::uint64_t>(experts.seed));
  constexpr std::int64_t most_blocks = 256;  // enough for an average
  double sum = 0;
  std::int64_t blocks = 0;
  std::vector<double> loads(static_cast<std::size_t>(moe.experts));
  for (const Layer& layer : plan.layers) {
    if (layer.kind != LayerKind::block || !block_kind(plan.model, layer.index).experts) continue;
    if (blocks == most_blocks) break;
    for (double& load : loads) load = std::exp(experts.imbalance * normal_draw(draw));
    sum += busiest_of(loads, ranks, moe.capacity_factor);
    ++blocks;
  }
  return blocks > 0 ? sum / static_cast<double>(blocks) : 1;
}

}  // namespace stagecraft

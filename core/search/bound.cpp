#include "search/bound.hpp"

#include <algorithm>

#include "estimate/estimate.hpp"

namespace stagecraft {
namespace {

struct StageSeconds {
  double forward = 0, backward = 0, input_grad = 0, weight_grad = 0, recompute = 0, optimizer = 0;
};

std::vector<StageSeconds> seconds_of_stages(const Bodies& bodies, const RankTimes& of_ranks, const StageMap& map) {
  std::vector<StageSeconds> stages;
  for (std::size_t s = 0; s < map.size(); ++s) {
    const auto& of_kind = bodies.of_stage[s];
    const std::vector<BodyTime>& times = of_ranks.at(map[s]);
    const auto seconds = [&](OpKind kind) {
      const BodyId body = of_kind[static_cast<std::size_t>(kind)];
      return body.valid() ? times[body.index()].total.expected.value : 0.0;
    };
    stages.push_back({seconds(OpKind::forward), seconds(OpKind::backward), seconds(OpKind::input_grad),
                      seconds(OpKind::weight_grad), seconds(OpKind::recompute), seconds(OpKind::optimizer_step)});
  }
  return stages;
}

}  // namespace

ScheduleFacts facts_of(const Schedule& lowered) {
  ScheduleFacts facts;
  for (const auto& program : lowered.programs) {
    for (const Op& op : program) {
      facts.split = facts.split || op.kind == OpKind::input_grad;
      facts.recompute = facts.recompute || op.kind == OpKind::recompute;
    }
  }
  facts.steps_to_steady = steps_until_steady(lowered);
  return facts;
}

double least_step_s(const Plan& plan, const Schedule& lowered, const ScheduleFacts& facts, const Bodies& bodies,
                    const RankTimes& times) {
  const auto ranks = static_cast<std::size_t>(plan.degrees.pipeline);
  const bool one_copy = lowered.placement.size() == 1;
  const bool steps_apart = facts.steps_to_steady == 1 && plan.run.steps == 1 && !lowered.asynchronous;
  const double micro_batches = plan.micro_batches;

  std::vector<double> work(ranks, 0), optimizer(ranks, 0);
  for (const StageMap& map : lowered.placement) {
    const std::vector<StageSeconds> stages = seconds_of_stages(bodies, times, map);
    const double passes = micro_batches / static_cast<double>(lowered.placement.size());
    for (std::size_t s = 0; s < map.size(); ++s) {
      const StageSeconds& stage = stages[s];
      const double whole = stage.backward, halves = stage.input_grad + stage.weight_grad;
      // A schedule may mix whole and split backwards; the cheaper one is safe.
      const double backward = facts.split ? std::min(whole, halves) : whole;
      work[map[s].index()] += passes * (stage.forward + backward + (facts.recompute ? stage.recompute : 0));
      optimizer[map[s].index()] = std::max(optimizer[map[s].index()], stage.optimizer);
    }
  }

  constexpr double rounding = 1 - 1e-12;  // sums in another order than those of a timeline
  if (!steps_apart) return rounding * *std::min_element(work.begin(), work.end());
  // Stage s of a looped or V placement lies on rank s for s < ranks. Where ranks differ, the slowest replica of one
  // rank need not be that of another, so that no pipeline may take both times.
  const StageMap& map = lowered.placement.front();
  const std::vector<StageSeconds> stages = seconds_of_stages(bodies, times, map);
  bool in_order = one_copy && map.size() >= ranks && times.of.empty();
  for (std::size_t s = 0; in_order && s < ranks; ++s) in_order = map[s].index() == s;
  bool looped = in_order;
  for (std::size_t s = 0; looped && s < map.size(); ++s) looped = map[s].index() == s % ranks;

  double longest = 0, fill = 0, drain = 0, last_step = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    longest = std::max(longest, fill + work[rank] + drain);
    last_step = std::max(last_step, optimizer[rank]);
    if (in_order) fill += stages[rank].forward;
    if (looped && !facts.split) drain += stages[rank].backward + (facts.recompute ? stages[rank].recompute : 0);
  }
  const bool barrier = lowered.optimizer_sync == OptimizerSync::barrier;
  return rounding * (longest + (barrier ? last_step : 0));
}

}  // namespace stagecraft

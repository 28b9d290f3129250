#include "estimate/stage_durations.hpp"

#include "cost/faulty_groups.hpp"
#include "cost/rank_costs.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

StageTimes durations(const Plan& plan, const Bodies& bodies, const RankTimes& times) {
  const auto seconds = [&](std::size_t stage, OpKind kind) {
    const BodyId body = bodies.of_stage[stage][static_cast<std::size_t>(kind)];
    // Which rank holds a stage is the schedule's choice, and that is yet to be made: looped is usual.
    const PipelineRank rank(stage % static_cast<std::size_t>(plan.degrees.pipeline));
    return body.valid() ? times.at(rank)[body.index()].total.expected.value : 0.0;
  };
  StageTimes result;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    result.forward.push_back(seconds(stage, OpKind::forward));
    result.input_grad.push_back(seconds(stage, OpKind::input_grad) + seconds(stage, OpKind::recompute));
    result.weight_grad.push_back(seconds(stage, OpKind::weight_grad));
  }
  return result;
}

}  // namespace

StageTimes stage_durations(const Plan& plan, const CostModel& model) {
  const Bodies bodies = make_bodies(plan);
  return durations(plan, bodies, {{time_bodies(model, bodies, plan)}, {}});
}

StageTimes stage_durations(const Plan& plan, const CostModel& model, const Topology& topology) {
  const Bodies bodies = make_bodies(plan);
  StageTimes result = durations(plan, bodies, time_bodies_by_rank(model, bodies, plan, topology));
  if (plan.degrees.pipeline > 1) {
    const Route route = slowest_route(plan, topology, PipelineRank(0), PipelineRank(1));
    result.send = transfer_time(message_bytes(plan, Stage(0)), route, model.calibration).total.expected.value;
  }
  return result;
}

}  // namespace stagecraft

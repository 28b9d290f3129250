#include "estimate/stage_durations.hpp"

#include "cost/faulty_groups.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

StageTimes stage_durations(const Plan& plan, const CostModel& model, const Topology& topology) {
  Schedule bodies_only;
  bodies_only.shape = {plan.degrees.pipeline, plan.micro_batches,
                       static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  bodies_only.bodies = make_bodies(plan);
  const std::vector<BodyTime> times = time_bodies(model, bodies_only, plan);
  const auto seconds = [&](std::size_t stage, OpKind kind) {
    const BodyId body = bodies_only.bodies.of_stage[stage][static_cast<std::size_t>(kind)];
    return body.valid() ? times[body.index()].total.expected.value : 0.0;
  };
  StageTimes result;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    result.forward.push_back(seconds(stage, OpKind::forward));
    result.input_grad.push_back(seconds(stage, OpKind::input_grad) + seconds(stage, OpKind::recompute));
    result.weight_grad.push_back(seconds(stage, OpKind::weight_grad));
  }
  if (plan.degrees.pipeline > 1) {
    const Route route = slowest_route(plan, topology, PipelineRank(0), PipelineRank(1));
    result.send = transfer_time(message_bytes(plan, Stage(0)), route, model.calibration).total.expected.value;
  }
  return result;
}

}  // namespace stagecraft

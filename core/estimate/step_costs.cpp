#include "estimate/step_costs.hpp"

#include <string_view>

#include "cost/rank_costs.hpp"
#include "schedule/body_names.hpp"

namespace stagecraft {
namespace {

/// Where a segment of an optimizer step counts; nullptr: in no line of its own.
double* line_of(StepCosts& costs, const Segment& segment) {
  switch (segment.kernel.kind) {
    case KernelKind::host:
      return &costs.host_s;
    case KernelKind::loading:
      return &costs.data_loading_s;
    case KernelKind::collection:
      return &costs.garbage_collection_s;
    case KernelKind::host_adam:
      return &costs.optimizer_s;
    case KernelKind::memory:
      return std::string_view(segment.name) == gradient_clipping_segment ? &costs.gradient_clipping_s
                                                                         : &costs.optimizer_s;
    case KernelKind::gemm:
    case KernelKind::attention:
    case KernelKind::host_sync:
      break;
  }
  return nullptr;
}

void add_segments(StepCosts& costs, const Body& body, const BodyTime& time) {
  for (std::size_t part = 0; part < body.parts.size(); ++part) {
    for (std::size_t i = 0; i < body.parts[part].segments.size(); ++i) {
      const Segment& segment = body.parts[part].segments[i];
      if (segment.is_collective) continue;
      if (double* const line = line_of(costs, segment)) {
        *line += time.segments[part][i].time.value * body.parts[part].repeat;
      }
    }
  }
}

}  // namespace

StepCosts step_costs(const Plan& plan, const Schedule& schedule, const CostModel& model, const Topology& topology) {
  const RankTimes times = time_bodies_by_rank(model, schedule.bodies, plan, topology);
  StepCosts costs;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    for (const Op& op : schedule.programs[rank]) {
      if (!op.body.valid()) continue;
      const BodyTime& time = times.at(PipelineRank(rank))[op.body.index()];
      costs.slowest_rank_s += time.waiting.value;
      costs.kernel_launches_s += time.launch_wait.value;
      if (op.kind == OpKind::optimizer_step) add_segments(costs, schedule.bodies.bodies[op.body.index()], time);
    }
  }
  const double ranks = static_cast<double>(schedule.programs.size());
  for (const StepCostLine& line : step_cost_lines) costs.*line.seconds /= ranks;
  return costs;
}

}  // namespace stagecraft

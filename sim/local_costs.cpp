#include "sim/local_costs.hpp"

#include "cost/faulty_groups.hpp"
#include "sim/traffic.hpp"

namespace stagecraft {
namespace {

bool alike(const CostModel& a, const CostModel& b) {
  const GroupShape &x = shape_of(a, Axis::tensor), &y = shape_of(b, Axis::tensor);
  return a.slowest == b.slowest && x.nodes == y.nodes && x.ranks_per_node == y.ranks_per_node && x.inside == y.inside &&
         x.staged_through_host == y.staged_through_host && x.left == y.left && x.intra_achieved == y.intra_achieved &&
         x.inter_achieved == y.inter_achieved && x.nic_sharers == y.nic_sharers;
}

}  // namespace

LocalCosts local_costs(const Plan& plan, const Schedule& schedule, const CostModel& model, const Topology& topology,
                       bool folded) {
  LocalCosts costs;
  costs.ranks = schedule.programs.size();
  if (folded || (is_even(topology) && plan.gpus.empty())) {
    costs.models.push_back(model);
  } else {
    for (std::int32_t replica = 0; replica < replica_count(plan, false); ++replica) {
      for (std::size_t rank = 0; rank < costs.ranks; ++rank) {
        CostModel local = model_at(model, plan, topology, PipelineRank(rank), replica);
        std::size_t known = 0;
        while (known < costs.models.size() && !alike(costs.models[known], local)) ++known;
        if (known == costs.models.size()) costs.models.push_back(std::move(local));
        costs.of.push_back(static_cast<std::uint32_t>(known));
      }
    }
  }
  for (const CostModel& each : costs.models) costs.bodies.push_back(time_bodies(each, schedule, plan));
  return costs;
}

}  // namespace stagecraft

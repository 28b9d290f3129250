#include "sim/local_costs.hpp"

#include <utility>

#include "cost/rank_costs.hpp"
#include "sim/traffic.hpp"

namespace stagecraft {
namespace {

std::vector<RankTerms> terms_of_all(const Plan& plan, std::size_t ranks, const CostModel& model,
                                    const Topology& topology) {
  const Degrees& degrees = plan.degrees;
  std::vector<RankTerms> terms;
  for (std::int32_t replica = 0; replica < replica_count(plan, false); ++replica) {
    for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(ranks); ++rank) {
      const Coordinates first{0, replica % degrees.context, replica / degrees.context, rank};
      terms.push_back(terms_at(model, plan, topology, rank_at(degrees, first)));
    }
  }
  return terms;
}

}  // namespace

LocalCosts local_costs(const Plan& plan, const Schedule& schedule, const CostModel& model, const Topology& topology,
                       bool folded) {
  LocalCosts costs;
  costs.ranks = schedule.programs.size();
  if (!may_differ(plan, topology)) {
    costs.models.push_back(model);
  } else {
    RankModels local = models_of(
        model, plan, folded ? slowest_terms(model, plan, topology) : terms_of_all(plan, costs.ranks, model, topology));
    costs.models = std::move(local.models);
    costs.of = std::move(local.of);
  }
  for (const CostModel& each : costs.models) costs.bodies.push_back(time_bodies(each, schedule, plan));
  return costs;
}

}  // namespace stagecraft

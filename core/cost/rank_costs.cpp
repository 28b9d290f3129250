#include "cost/rank_costs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cost/faulty_groups.hpp"
#include "spec/precision.hpp"

namespace stagecraft {
namespace {

const CostModel& model_of_kind(const CostModel& model, std::size_t kind) {
  return kind == 0 ? model : model.other_kinds[kind - 1];
}

/// Rate of large matrix products on GPUs of a kind: tells which of two kinds a group waits for.
double pace_of(const CostModel& model, const Plan& plan, const RankTerms& terms) {
  const auto dtype = static_cast<std::size_t>(number_formats(plan.run.precision).gemm);
  return model_of_kind(model, terms.kind).law.gemm[dtype].rate.value / terms.times;
}

CostModel with_terms(const CostModel& model, const Plan& plan, const RankTerms& terms) {
  CostModel local = model_of_kind(model, terms.kind);
  local.groups[static_cast<std::size_t>(Axis::tensor)] = terms.tensor;
  local.slowest = slowest_rank(plan, local.calibration, terms.times);
  return local;
}

}  // namespace

bool may_differ(const Plan& plan, const Topology& topology) {
  return !plan.gpus.empty() || !is_even(topology);
}

RankTerms terms_at(const CostModel& model, const Plan& plan, const Topology& topology, Rank rank) {
  const std::vector<GpuId> members = members_of(plan, Axis::tensor, rank);
  std::optional<RankTerms> slowest;
  for (const GpuId gpu : members) {
    const RankTerms terms{kind_of(topology, gpu), 1 / speed_of(topology, gpu), {}};
    if (!slowest || pace_of(model, plan, terms) < pace_of(model, plan, *slowest)) slowest = terms;
  }
  slowest->tensor = shape_of(topology, members, world_size(plan.degrees));
  share_fabric(shape_of(model, Axis::tensor).fabric_shared, slowest->tensor);
  return *slowest;
}

std::vector<RankTerms> slowest_terms(const CostModel& model, const Plan& plan, const Topology& topology) {
  std::vector<RankTerms> slowest;
  for (std::int32_t rank = 0; rank < plan.degrees.pipeline; ++rank)
    slowest.push_back(terms_at(model, plan, topology, representative(plan, PipelineRank(rank))));
  visit_other_ranks(plan, topology, [&](Rank rank) {
    RankTerms& known = slowest[static_cast<std::size_t>(coordinates_of(plan.degrees, rank).pipeline)];
    const RankTerms here = terms_at(model, plan, topology, rank);
    const GroupShape tensor = slower_of(known.tensor, here.tensor);
    if (pace_of(model, plan, here) < pace_of(model, plan, known)) known = here;
    known.tensor = tensor;
  });
  return slowest;
}

RankModels models_of(const CostModel& model, const Plan& plan, std::span<const RankTerms> terms) {
  RankModels found;
  std::vector<RankTerms> distinct;
  for (const RankTerms& each : terms) {
    const auto known = std::find(distinct.begin(), distinct.end(), each);
    found.of.push_back(static_cast<std::uint32_t>(known - distinct.begin()));
    if (known != distinct.end()) continue;
    distinct.push_back(each);
    found.models.push_back(with_terms(model, plan, each));
  }
  return found;
}

RankTimes time_bodies_by_rank(const CostModel& model, const Bodies& bodies, const Plan& plan,
                              const Topology& topology) {
  if (!may_differ(plan, topology)) return {{time_bodies(model, bodies, plan)}, {}};
  RankModels models = models_of(model, plan, slowest_terms(model, plan, topology));
  RankTimes times{{}, std::move(models.of)};
  for (const CostModel& each : models.models) times.bodies.push_back(time_bodies(each, bodies, plan));
  return times;
}

}  // namespace stagecraft

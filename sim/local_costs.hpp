#pragma once
// Costs by replica and pipeline rank: one model for all, or where faults, kinds of nodes or a placement set them apart,
// one per kind of group.

#include <cstdint>
#include <vector>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

struct LocalCosts {
  std::vector<CostModel> models;
  std::vector<std::vector<BodyTime>> bodies;  // per model
  std::vector<std::uint32_t> of;              // [replica * ranks + rank] -> models; empty: the first for all
  std::size_t ranks = 1;

  std::size_t at(PipelineRank rank, std::int32_t replica) const {
    return of.empty() ? 0 : of[static_cast<std::size_t>(replica) * ranks + rank.index()];
  }
};

/// If groups may differ, each replica has its own; `folded`, the slowest replica of each pipeline rank stands for all.
LocalCosts local_costs(const Plan& plan, const Schedule& schedule, const CostModel& model, const Topology& topology,
                       bool folded);

}  // namespace stagecraft

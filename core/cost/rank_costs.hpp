#pragma once
// Costs by pipeline rank. Where nodes, links or GPUs are not alike, or ranks are placed in an order of their own, each
// tensor group has its own GPUs and links; elsewhere one model stands for all.

#include <cstdint>
#include <span>
#include <vector>

#include "cost/cost_model.hpp"

namespace stagecraft {

/// What sets one tensor group apart from another.
struct RankTerms {
  std::size_t kind = 0;  // of its slowest GPUs: 0 the cluster's own, 1 + i other_nodes[i]
  double times = 1;      // what kernels take on the slowest of its GPUs, over a sound one of that kind
  GroupShape tensor;

  friend bool operator==(const RankTerms&, const RankTerms&) = default;
};

/// Whether groups may differ at all.
bool may_differ(const Plan& plan, const Topology& topology);

/// Of the tensor group of a rank.
RankTerms terms_at(const CostModel& model, const Plan& plan, const Topology& topology, Rank rank);

/// [pipeline rank], each as on the slowest of its replicas.
std::vector<RankTerms> slowest_terms(const CostModel& model, const Plan& plan, const Topology& topology);

/// One model per distinct terms.
struct RankModels {
  std::vector<CostModel> models;
  std::vector<std::uint32_t> of;  // of each of the terms
};
RankModels models_of(const CostModel& model, const Plan& plan, std::span<const RankTerms> terms);

/// Bodies timed for every pipeline rank, each as on the slowest of its replicas.
struct RankTimes {
  std::vector<std::vector<BodyTime>> bodies;  // [model][BodyId]
  std::vector<std::uint32_t> of;              // [pipeline rank] -> model; empty: the first for all

  const std::vector<BodyTime>& at(PipelineRank rank) const { return bodies[of.empty() ? 0 : of[rank.index()]]; }
};
RankTimes time_bodies_by_rank(const CostModel& model, const Bodies& bodies, const Plan& plan, const Topology& topology);

}  // namespace stagecraft

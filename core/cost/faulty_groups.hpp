#pragma once
// What faults of single nodes and placements of their own do to the plan's groups. Without them all groups of an axis
// are alike.

#include "cost/cost_model.hpp"

namespace stagecraft {

/// The shape of the representative's group, as slow as the slowest group of the axis: steps end when all have.
GroupShape worst_shape(const Plan& plan, const Topology& topology, Axis axis);

/// How many times as long kernels take on the slowest GPU of the job; 1 without faults.
double slowest_gpu(const Plan& plan, const Topology& topology);

/// CostModel::slowest of ranks whose GPU takes `times` as long as a sound one.
double slowest_rank(const Plan& plan, const Calibration& calibration, double times);

/// The way of a message between two pipeline ranks: the representative's, or under a placement of its own the slowest
/// of all replicas and tensor ranks.
Route slowest_route(const Plan& plan, const Topology& topology, PipelineRank from, PipelineRank to);

/// The model of one pipeline rank's tensor group in one replica (data x context coordinate): its own links, its own
/// GPUs.
CostModel model_at(const CostModel& model, const Plan& plan, const Topology& topology, PipelineRank rank,
                   std::int32_t replica);

}  // namespace stagecraft

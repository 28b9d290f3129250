#pragma once
// What faults of single nodes do to the plan's groups. Without such faults all groups of an axis are alike.

#include "cost/cost_model.hpp"

namespace stagecraft {

/// The shape of the representative's group, as slow as the slowest group of the axis: steps end when all have.
GroupShape worst_shape(const Plan& plan, const Topology& topology, Axis axis);

/// How many times as long kernels take on the slowest GPU of the job; 1 without faults.
double slowest_gpu(const Plan& plan, const Topology& topology);

/// CostModel::slowest of ranks whose GPU takes `times` as long as a sound one.
double slowest_rank(const Plan& plan, const Calibration& calibration, double times);

/// The model of one pipeline rank's tensor group in one replica (data x context coordinate): its own links, its own
/// GPUs.
CostModel model_at(const CostModel& model, const Plan& plan, const Topology& topology, PipelineRank rank,
                   std::int32_t replica);

}  // namespace stagecraft

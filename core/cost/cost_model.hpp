#pragma once
// Kernel and collective times bound to one GPU, one topology, one calibration.

#include <array>
#include <string>
#include <vector>

#include "cost/calibration.hpp"
#include "cost/collective_time.hpp"
#include "cost/kernel_time.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// What one GPU copies to or from its host per second: alone, and while every GPU of the job on its node copies.
struct CopyRate {
  BytesPerSecond alone, shared;
};

/// Of the cluster's own nodes; rank_costs.hpp has what each rank pays where they are not alike.
struct CostModel {
  GpuSpec gpu;
  Calibration calibration;
  KernelLaw law;
  double slowest = 0;     // how much longer kernels take on the slowest rank of the job, as a fraction
  double block_wait = 0;  // the same of a block between two collectives of the sharding group, beside `slowest`
  Seconds broadcasts;     // host time of broadcasting every rank's share of the updated parameters
  CopyRate host, nvme;
  std::array<GroupShape, axis_count> groups;  // [Axis] of the plan on the topology
  std::vector<CostModel> other_kinds;         // the same for GPUs of the cluster's other_nodes, in their order
};

/// Throws std::invalid_argument if the calibration lacks the law of a kernel that the plan runs, or those of the
/// cluster's other_nodes.
CostModel make_cost_model(const Plan& plan, const Topology& topology, const Calibration& calibration);

const GroupShape& shape_of(const CostModel& model, Axis axis);

/// One segment of a body with its idle-network time.
struct SegmentTime {
  Seconds time;
  bool is_collective = false;
};

/// Exposed seconds of the collectives of a body by what they serve.
struct ExposedTime {
  Seconds tensor, context, expert;
  Seconds data;    // gathers of parameters, reductions of gradients
  Seconds copies;  // between GPU and host
};

/// A body, timed: what the estimate adds up and the simulator plays back.
struct BodyTime {
  TimeEstimate total;  // all segments, repeats included
  Seconds kernels;
  Seconds collectives;                             // exposed part, after the overlap policy of the run
  ExposedTime exposed;                             // the same by what they serve
  Seconds launch_wait;                             // of total: the GPU waits for the host to launch kernels
  Seconds waiting;                                 // of total: for the slowest of the ranks that do the same
  std::vector<std::vector<SegmentTime>> segments;  // [part][segment], one repeat
};

/// Times of all bodies of a schedule, indexed by BodyId. Where the host launches kernels more slowly than the GPU
/// finishes them, all kernel times of the body are stretched to the host's pace; those that the calibration has
/// measured stay as they are. With overlap.tensor a collective that
/// may hide behind kernels counts with what sticks out.
std::vector<BodyTime> time_bodies(const CostModel& model, const Schedule& schedule, const Plan& plan);
std::vector<BodyTime> time_bodies(const CostModel& model, const Bodies& bodies, const Plan& plan);

/// Closed-form time of an operation that is not a compute operation (sends, reductions, gathers, copies between GPU and
/// host); receives take none.
CollectiveTime time_of(const CostModel& model, const Schedule& schedule, const Plan& plan, const Topology& topology,
                       PipelineRank rank, const Op& op);

/// The collective behind a reduction or gather of a stage, its experts apart: kind, axis and bytes.
Collective collective_of(const Plan& plan, const Op& op);

/// What the run asks of the laws outside the ranges that they were measured over, one sentence each.
std::vector<std::string> outside_measured_range(const CostModel& model, const Schedule& schedule, const Plan& plan);

}  // namespace stagecraft

#pragma once
// What faults of single nodes, nodes of several kinds and placements of their own do to the plan's groups. Without them
// all groups of an axis are alike.

#include <functional>
#include <vector>

#include "cost/cost_model.hpp"

namespace stagecraft {

/// The shape of the representative's group, as slow as the slowest group of the axis: steps end when all have.
GroupShape worst_shape(const Plan& plan, const Topology& topology, Axis axis);

/// What trunks take while all groups of the axis use them at the same time. Of all-to-alls only where the axis runs
/// any.
FabricShare share_of_all(const Plan& plan, const Topology& topology, Axis axis);
/// Whether the axis has the groups of the data axis: shards of as many ranks, say.
bool has_data_groups(const Plan& plan, Axis axis);
/// Has the group's siblings use the trunks beside it, all of them as share_of_all says.
void share_fabric(const FabricShare& all_together, GroupShape& shape);

/// How many times as long kernels take on the slowest GPU of the job; 1 without faults.
double slowest_gpu(const Plan& plan, const Topology& topology);

/// As slow as both in everything.
GroupShape slower_of(const GroupShape& a, const GroupShape& b);

/// The GPUs of the group, ascending.
std::vector<GpuId> members_of(const Plan& plan, Axis axis, Rank rank);

/// Calls `visit` with ranks whose groups may fare differently from the representative's: of every row of neighbouring
/// nodes that are alike, but not as the others are, a sample with its first and last; where all nodes have a fault a
/// sample of all nodes, and under a placement of its own one of all ranks.
void visit_other_ranks(const Plan& plan, const Topology& topology, const std::function<void(Rank)>& visit);

/// CostModel::slowest of ranks whose GPU takes `times` as long as a sound one.
double slowest_rank(const Plan& plan, const Calibration& calibration, double times);

/// The way of a message between two pipeline ranks: the representative's, or under a placement of its own the slowest
/// of all replicas and tensor ranks.
Route slowest_route(const Plan& plan, const Topology& topology, PipelineRank from, PipelineRank to);

}  // namespace stagecraft

#include "sim/traffic_sample.hpp"

#include <algorithm>
#include <numeric>

namespace stagecraft {
namespace {

constexpr std::int32_t kept_repetitions = 4;  // two at the ends and two between them, so that both kinds of edges stay

std::int64_t gpus_of_leaf_group(const Topology& topology) {
  const FabricSpec& fabric = topology.cluster.fabric;
  const bool has_groups = fabric.kind == FabricKind::fat_tree || fabric.kind == FabricKind::rail_optimised;
  return topology.gpus_per_node * (has_groups ? std::max<std::int64_t>(1, fabric.nodes_per_leaf_group) : 1);
}

/// Whether leaving machines out changes no route of the others but their number: hashes and the groups of a dragonfly
/// would, and faults and nodes of other kinds stay where they are.
bool repeats(const Topology& topology) {
  const FabricSpec& fabric = topology.cluster.fabric;
  return is_even(topology) && topology.cluster.faults.empty() && fabric.routing == Routing::adaptive &&
         fabric.kind != FabricKind::dragonfly;
}

/// How many replicas can be left out of each pipeline rank.
std::int32_t surplus(const Plan& plan, const Topology& topology) {
  const std::int64_t replica = std::int64_t{plan.degrees.tensor} * plan.degrees.context;
  // Groups of a hybrid sharding stay whole.
  const std::int64_t shards = group_size(plan.degrees, Axis::replica);
  const std::int64_t group = shards > 1 ? plan.degrees.tensor * group_size(plan.degrees, Axis::shard) : 1;
  const std::int64_t repetition = std::lcm(std::lcm(replica, gpus_of_leaf_group(topology)), group) / replica;
  return static_cast<std::int32_t>(std::max<std::int64_t>(0, plan.degrees.data / repetition - kept_repetitions) *
                                   repetition);
}

}  // namespace

TrafficSample traffic_sample(const Plan& plan, const Topology& topology, bool folded) {
  TrafficSample sample{plan, topology};
  // Replicas of a placement of their own need not repeat each other's place.
  const std::int32_t left_out = folded && plan.gpus.empty() && repeats(topology) ? surplus(plan, topology) : 0;
  if (left_out == 0) return sample;
  const std::int64_t gpus = std::int64_t{left_out} * plan.degrees.tensor * plan.degrees.context * plan.degrees.pipeline;
  sample.plan.degrees.data -= left_out;
  sample.topology.cluster.nodes -= gpus / topology.gpus_per_node;
  return sample;
}

}  // namespace stagecraft

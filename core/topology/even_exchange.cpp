#include "topology/even_exchange.hpp"

#include <algorithm>
#include <map>

#include "topology/dragonfly.hpp"
#include "topology/fabric.hpp"

namespace stagecraft {
namespace {

/// Members at every place, by the place's number.
using Counts = std::map<std::int64_t, double>;

std::int32_t nic_of(const Topology& topology, GpuId gpu) {
  const auto local = gpu.index() % static_cast<std::size_t>(topology.gpus_per_node);
  return std::max(0, wiring_of(topology, node_of(topology, gpu)).nic_of_gpu[local]);
}

/// Whether a copy moves to its receiver's rail before it leaves the node.
bool changes_rails(const Topology& topology) {
  const auto nics = static_cast<std::size_t>(topology.nics_per_node);
  for (std::size_t i = 0; i < topology.relay.size(); ++i) {
    const auto relay = static_cast<std::size_t>(topology.relay[i]);
    if (topology.nic_of_gpu[relay] != static_cast<std::int32_t>(i % nics)) return false;
  }
  return true;
}

struct Leaves {
  Counts of_group, of_rail, of_leaf;  // leaf group; rail; leaf group * rails + rail
  Counts inside;                      // per leaf: ordered pairs with other rails of the same node
};

Leaves count_leaves(const Topology& topology, std::span<const GpuId> members) {
  const std::int64_t rails = leaves_per_group(topology);
  Leaves leaves;
  for (std::size_t first = 0; first < members.size();) {
    const NodeId node = node_of(topology, members[first]);
    const std::int64_t group = leaf_group_of(topology, node);
    Counts here;
    std::size_t end = first;
    for (; end < members.size() && node_of(topology, members[end]) == node; ++end)
      ++here[rails > 1 ? nic_of(topology, members[end]) : 0];
    const auto count = static_cast<double>(end - first);
    leaves.of_group[group] += count;
    for (const auto& [rail, on_rail] : here) {
      leaves.of_rail[rail] += on_rail;
      leaves.of_leaf[group * rails + rail] += on_rail;
      leaves.inside[group * rails + rail] += on_rail * (count - on_rail);
    }
    first = end;
  }
  return leaves;
}

std::vector<TrunkUse> over_leaves(const Topology& topology, std::span<const GpuId> members) {
  const std::int64_t rails = leaves_per_group(topology), cables = cables_per_leaf(topology);
  const auto all = static_cast<double>(members.size());
  const bool relayed = rails == 1 || changes_rails(topology);
  Leaves leaves = count_leaves(topology, members);
  std::vector<TrunkUse> uses;
  for (const auto& [group, in_group] : leaves.of_group) {
    for (const auto& [rail, on_rail] : leaves.of_rail) {
      const std::int64_t leaf = group * rails + rail;
      const double here = leaves.of_leaf[leaf];
      // Without relays what leaves goes up its own rail, also to other rails of the same leaf group.
      const double own = here * (all - here) - leaves.inside[leaf];
      const double up = relayed ? in_group * (on_rail - here) : own;
      const double down = relayed ? here * (all - in_group) : own;
      const std::int64_t id = first_trunk(topology) + 2 * leaf * cables;
      uses.push_back({LinkId(static_cast<std::int32_t>(id)), up / static_cast<double>(cables)});
      uses.push_back({LinkId(static_cast<std::int32_t>(id + 1)), down / static_cast<double>(cables)});
    }
  }
  return uses;
}

std::vector<TrunkUse> over_dragonfly(const Topology& topology, std::span<const GpuId> members) {
  Counts on_switch;
  for (const GpuId gpu : members) ++on_switch[leaf_group_of(topology, node_of(topology, gpu))];
  return exchanged_over_dragonfly(topology, on_switch);
}

/// Pair by pair.
std::vector<TrunkUse> over_routes(const Topology& topology, std::span<const GpuId> members) {
  std::vector<TrunkUse> uses;
  const std::int64_t first = first_trunk(topology);
  Route route;
  for (const GpuId from : members) {
    for (const GpuId to : members) {
      if (node_of(topology, from) == node_of(topology, to)) continue;
      find_route(topology, from, to, route);
      for (const LinkId link : route.links)
        if (link.value >= first) uses.push_back({link, 1});
    }
  }
  return uses;
}

/// Few pairs do not use all cables of a leaf evenly where a hash chooses one for each.
bool collide(const Topology& topology, std::span<const GpuId> members) {
  constexpr std::size_t few = 64;
  return members.size() <= few && topology.cluster.fabric.routing == Routing::fixed;
}

}  // namespace

std::vector<TrunkUse> exchanged_over_trunks(const Topology& topology, std::span<const GpuId> members) {
  switch (topology.cluster.fabric.kind) {
    case FabricKind::fat_tree:
    case FabricKind::rail_optimised:
      return collide(topology, members) ? over_routes(topology, members) : over_leaves(topology, members);
    case FabricKind::dragonfly:
      return over_dragonfly(topology, members);
    case FabricKind::none:
    case FabricKind::single_switch:
      break;
  }
  return {};
}

}  // namespace stagecraft

#include "topology/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {
namespace {

bool has_trunks(const Topology& topology) {
  const FabricKind kind = topology.cluster.fabric.kind;
  return kind == FabricKind::fat_tree || kind == FabricKind::rail_optimised;
}

std::int64_t nodes_per_group(const Topology& topology) {
  return std::max<std::int64_t>(1, topology.cluster.fabric.nodes_per_leaf_group);
}

std::int64_t group_count(const Topology& topology) {
  if (!has_trunks(topology)) return 0;
  return (topology.cluster.nodes - 1) / nodes_per_group(topology) + 1;
}

}  // namespace

std::int64_t leaf_group_of(const Topology& topology, NodeId node) {
  return node.value / nodes_per_group(topology);
}

std::int64_t leaves_per_group(const Topology& topology) {
  return topology.cluster.fabric.kind == FabricKind::rail_optimised ? topology.nics_per_node : 1;
}

std::int64_t trunk_count(const Topology& topology) {
  return 2 * group_count(topology) * leaves_per_group(topology);
}

std::int64_t first_trunk(const Topology& topology) {
  return topology.cluster.nodes * topology.links_per_node;
}

LinkId trunk(const Topology& topology, std::int64_t leaf_group, std::int32_t rail, TrunkDirection direction) {
  const std::int64_t leaves = leaves_per_group(topology);
  const std::int64_t leaf = leaf_group * leaves + (leaves == 1 ? 0 : rail);
  return LinkId(
      static_cast<std::int32_t>(first_trunk(topology) + 2 * leaf + (direction == TrunkDirection::up ? 0 : 1)));
}

BytesPerSecond trunk_rate(const Topology& topology, BytesPerSecond nic_rate) {
  const bool rails = topology.cluster.fabric.kind == FabricKind::rail_optimised;
  const double nics = static_cast<double>(nodes_per_group(topology)) * (rails ? 1 : topology.nics_per_node);
  return nic_rate * nics / topology.cluster.fabric.oversubscription;
}

Link trunk_link(const Topology& topology, LinkId id) {
  const FabricSpec& fabric = topology.cluster.fabric;
  const std::int64_t offset = id.value - first_trunk(topology);
  const std::int64_t leaves = leaves_per_group(topology);
  const char* direction = offset % 2 == 0 ? "up" : "down";
  const std::string name =
      fabric.kind == FabricKind::rail_optimised
          ? fmt::format("leaf-group{}/rail{}/{}", offset / 2 / leaves, offset / 2 % leaves, direction)
          : fmt::format("leaf-group{}/{}", offset / 2, direction);
  return {name, LinkKind::network, trunk_rate(topology, fabric.nic_nominal), trunk_rate(topology, fabric.nic_achieved),
          fabric.switch_latency};
}

}  // namespace stagecraft

#include "topology/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/dragonfly.hpp"

namespace stagecraft {
namespace {

bool has_leaves(const Topology& topology) {
  const FabricKind kind = topology.cluster.fabric.kind;
  return kind == FabricKind::fat_tree || kind == FabricKind::rail_optimised;
}

bool has_rails(const Topology& topology) {
  return topology.cluster.fabric.kind == FabricKind::rail_optimised;
}

std::int64_t nodes_per_group(const Topology& topology) {
  return std::max<std::int64_t>(1, topology.cluster.fabric.nodes_per_leaf_group);
}

double nics_per_leaf(const Topology& topology) {
  return static_cast<double>(nodes_per_group(topology)) * (has_rails(topology) ? 1 : topology.nics_per_node);
}

double leaf_left(const Topology& topology, std::int64_t group, std::int64_t rail) {
  double left = 1;
  if (topology.leaf_left.empty()) return left;
  for (const auto& at : {std::pair{std::int64_t{-1}, std::int64_t{-1}},
                         {std::int64_t{-1}, rail},
                         {group, std::int64_t{-1}},
                         {group, rail}}) {
    const auto found = topology.leaf_left.find(at);
    if (found != topology.leaf_left.end()) left *= found->second;
  }
  return left;
}

/// Rate of all NICs of a leaf that is full. Where nodes differ, places beyond the last node count as nodes of its kind.
NicRate nics_of_leaf(const Topology& topology, std::int64_t group) {
  const ClusterSpec& cluster = topology.cluster;
  const NicRate own = nic_rate_of_kind(cluster, 0);
  const double all = nics_per_leaf(topology);
  if (cluster.other_nodes.empty()) return {own.nominal * all, own.achieved * all};
  const std::int64_t begin = group * nodes_per_group(topology), end = begin + nodes_per_group(topology);
  NicRate sum;
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    const bool last = kind + 1 == kind_count(cluster);
    const std::int64_t from = std::max(begin, first_node_of(cluster, kind));
    const std::int64_t to = last ? end : std::min(end, first_node_of(cluster, kind + 1));
    if (to <= from) continue;
    const double of_node = has_rails(topology) ? 1 : static_cast<double>(nics_per_node(node_of_kind(cluster, kind)));
    const NicRate rate = nic_rate_of_kind(cluster, kind);
    sum.nominal += rate.nominal * (of_node * static_cast<double>(to - from));
    sum.achieved += rate.achieved * (of_node * static_cast<double>(to - from));
  }
  return sum;
}

/// Of a cable, or of all cables of a leaf, without faults.
NicRate trunk_rate(const Topology& topology, std::int64_t group) {
  const NicRate all = nics_of_leaf(topology, group);
  const double over = topology.cluster.fabric.oversubscription;
  const auto cables = static_cast<double>(cables_per_leaf(topology));
  return {all.nominal / over / cables, all.achieved / over / cables};
}

/// Avalanche of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::uint64_t hash_of(const Topology& topology, NicPort from, NicPort to) {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(topology.cluster.fabric.hash_seed));
  for (const std::int32_t part : {from.node.value, from.nic, to.node.value, to.nic})
    hash = mixed(hash ^ static_cast<std::uint64_t>(part));
  return hash;
}

}  // namespace

std::int64_t leaf_group_of(const Topology& topology, NodeId node) {
  return node.value / nodes_per_group(topology);
}

std::int64_t leaves_per_group(const Topology& topology) {
  return has_rails(topology) ? topology.nics_per_node : 1;
}

std::int64_t leaf_group_count(const Topology& topology) {
  return (topology.cluster.nodes - 1) / nodes_per_group(topology) + 1;
}

std::int64_t cables_per_leaf(const Topology& topology) {
  const FabricSpec& fabric = topology.cluster.fabric;
  if (fabric.routing == Routing::adaptive) return 1;
  return std::max<std::int64_t>(1, std::llround(nics_per_leaf(topology) / fabric.oversubscription));
}

std::int64_t trunk_count(const Topology& topology) {
  if (topology.cluster.fabric.kind == FabricKind::dragonfly) return dragonfly_link_count(topology);
  if (!has_leaves(topology)) return 0;
  return 2 * leaf_group_count(topology) * leaves_per_group(topology) * cables_per_leaf(topology);
}

std::int64_t first_trunk(const Topology& topology) {
  return topology.cluster.nodes * topology.links_per_node;
}

FabricPath fabric_path(const Topology& topology, NicPort from, NicPort to) {
  const std::int64_t group_from = leaf_group_of(topology, from.node), group_to = leaf_group_of(topology, to.node);
  if (topology.cluster.fabric.kind == FabricKind::dragonfly) return dragonfly_path(topology, group_from, group_to);
  FabricPath path;
  const bool rails = has_rails(topology);
  if (!has_leaves(topology) || (group_from == group_to && (!rails || from.nic == to.nic))) return path;
  const std::int64_t leaves = leaves_per_group(topology), cables = cables_per_leaf(topology);
  const std::int64_t spine =
      cables == 1 ? 0 : static_cast<std::int64_t>(hash_of(topology, from, to) % static_cast<std::uint64_t>(cables));
  const FabricSpec& fabric = topology.cluster.fabric;
  const auto pass = [&](std::int64_t group, std::int32_t rail, std::int64_t direction) {
    const std::int64_t leaf = group * leaves + (rails ? rail : 0);
    const std::int64_t id = first_trunk(topology) + 2 * (leaf * cables + spine) + direction;
    const BytesPerSecond rate = trunk_rate(topology, group).achieved * leaf_left(topology, group, rail);
    path.hops[path.count++] = {LinkId(static_cast<std::int32_t>(id)), rate, fabric.switch_latency};
  };
  pass(group_from, from.nic, 0);
  pass(group_to, to.nic, 1);
  return path;
}

Link trunk_link(const Topology& topology, LinkId id) {
  const FabricSpec& fabric = topology.cluster.fabric;
  const std::int64_t offset = id.value - first_trunk(topology);
  if (fabric.kind == FabricKind::dragonfly) return dragonfly_link(topology, offset);
  const std::int64_t leaves = leaves_per_group(topology), cables = cables_per_leaf(topology);
  const std::int64_t cable = offset / 2, leaf = cable / cables;
  const std::int64_t group = leaf / leaves, rail = leaf % leaves;
  std::string name = fmt::format("leaf-group{}", group);
  if (has_rails(topology)) name += fmt::format("/rail{}", rail);
  if (cables > 1) name += fmt::format("/cable{}", cable % cables);
  name += offset % 2 == 0 ? "/up" : "/down";
  const double left = leaf_left(topology, group, rail);
  const NicRate rate = trunk_rate(topology, group);
  return {name, LinkKind::network, rate.nominal, rate.achieved * left, fabric.switch_latency, left};
}

}  // namespace stagecraft

#include <algorithm>

#include "topology/fabric.hpp"
#include "topology/topology.hpp"

namespace stagecraft {
namespace {

/// Appends links to a route, and keeps its latency and bottleneck.
struct RouteWriter {
  const Topology& topology;
  Route& route;

  void pass(LinkId id, BytesPerSecond rate, Seconds latency) const {
    route.links.push_back(id);
    route.latency += latency;
    route.bottleneck = route.links.size() == 1 ? rate : std::min(route.bottleneck, rate);
  }
  void pass_node(NodeId node, const std::vector<std::int32_t>& links) const {
    const std::int32_t base = node.value * topology.links_per_node;
    for (const std::int32_t link : links) {
      const Link& passed = topology.node_links[static_cast<std::size_t>(link)];
      pass(LinkId(base + link), passed.achieved, passed.latency);
    }
  }
  void pass_trunk(std::int64_t group, std::int32_t rail, TrunkDirection direction) const {
    pass(trunk(topology, group, rail, direction), trunk_rate(topology, topology.cluster.fabric.nic_achieved),
         topology.cluster.fabric.switch_latency);
  }
};

}  // namespace

void find_route(const Topology& topology, GpuId from, GpuId to, Route& out) {
  out.links.clear();
  out.latency = {};
  out.bottleneck = {};
  out.staged_through_host = false;
  if (from == to) return;

  const RouteWriter writer{topology, out};
  const auto per_node = static_cast<std::size_t>(topology.gpus_per_node);
  const NodeId source = node_of(topology, from), target = node_of(topology, to);
  std::size_t local_from = from.index() % per_node;
  const std::size_t local_to = to.index() % per_node;
  if (source == target) {
    const std::size_t pair = local_from * per_node + local_to;
    writer.pass_node(source, topology.inside[pair]);
    out.staged_through_host = topology.staged_inside[pair] != 0;
    return;
  }

  const bool rails = topology.cluster.fabric.kind == FabricKind::rail_optimised;
  const std::int32_t rail_to = topology.nic_of_gpu[local_to];
  if (rails) {
    const auto relay = static_cast<std::size_t>(
        topology
            .relay[local_from * static_cast<std::size_t>(topology.nics_per_node) + static_cast<std::size_t>(rail_to)]);
    writer.pass_node(source, topology.inside[local_from * per_node + relay]);
    local_from = relay;
  }
  const std::int32_t rail_from = topology.nic_of_gpu[local_from];
  writer.pass_node(source, topology.to_nic[local_from]);
  const std::int64_t group_from = leaf_group_of(topology, source), group_to = leaf_group_of(topology, target);
  const bool same_leaf = group_from == group_to && (!rails || rail_from == rail_to);
  if (!same_leaf && trunk_count(topology) > 0) {
    writer.pass_trunk(group_from, rail_from, TrunkDirection::up);
    writer.pass_trunk(group_to, rail_to, TrunkDirection::down);
  }
  writer.pass_node(target, topology.from_nic[local_to]);
  out.staged_through_host = topology.staged_to_nic[local_from] != 0 || topology.staged_to_nic[local_to] != 0;
}

std::vector<LinkId> shared_links(const Route& a, const Route& b) {
  std::vector<LinkId> first = a.links, second = b.links, shared;
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(shared));
  shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
  return shared;
}

}  // namespace stagecraft

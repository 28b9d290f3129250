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
    const std::vector<Link>& of_node = wiring_of(topology, node).node_links;
    for (const std::int32_t link : links) {
      const Link& passed = of_node[static_cast<std::size_t>(link)];
      pass(LinkId(base + link), passed.achieved, passed.latency);
    }
  }
  void pass_fabric(NicPort from, NicPort to) const {
    const FabricPath path = fabric_path(topology, from, to);
    for (std::size_t i = 0; i < path.count; ++i) pass(path.hops[i].link, path.hops[i].rate, path.hops[i].latency);
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
  const NodeWiring& sender = wiring_of(topology, source);
  std::size_t local_from = from.index() % per_node;
  const std::size_t local_to = to.index() % per_node;
  if (source == target) {
    const std::size_t pair = local_from * per_node + local_to;
    writer.pass_node(source, sender.inside[pair]);
    out.staged_through_host = sender.staged_inside[pair] != 0;
    return;
  }

  const NodeWiring& receiver = wiring_of(topology, target);
  const std::int32_t nic_to = receiver.nic_of_gpu[local_to];
  if (topology.cluster.fabric.kind == FabricKind::rail_optimised) {
    const auto rail = static_cast<std::size_t>(nic_to);
    const auto relay =
        static_cast<std::size_t>(sender.relay[local_from * static_cast<std::size_t>(topology.nics_per_node) + rail]);
    writer.pass_node(source, sender.inside[local_from * per_node + relay]);
    local_from = relay;
  }
  writer.pass_node(source, sender.to_nic[local_from]);
  writer.pass_fabric({source, sender.nic_of_gpu[local_from]}, {target, nic_to});
  writer.pass_node(target, receiver.from_nic[local_to]);
  out.staged_through_host = sender.staged_to_nic[local_from] != 0 || receiver.staged_to_nic[local_to] != 0;
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

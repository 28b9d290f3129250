#include "topology/fault_effect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "topology/fabric.hpp"

namespace stagecraft {
namespace {

NodeId first_node(const FaultSpec& fault) {
  return NodeId(fault.nodes.empty() ? 0 : static_cast<std::int32_t>(fault.nodes.front()));
}

std::string rates(const std::string& name, BytesPerSecond now, BytesPerSecond before) {
  return now.value > 0 ? fmt::format("{} carries {} instead of {}", name, to_text(now), to_text(before))
                       : fmt::format("{} is down", name);
}

/// The slowest way of a GPU of the node to its NIC, with what GPUs share it.
std::string way_out(const Topology& topology, NodeId node) {
  const NodeWiring& wiring = wiring_of(topology, node);
  std::vector<int> users(wiring.node_links.size(), 0);
  for (const std::vector<std::int32_t>& way : wiring.to_nic) {
    for (const std::int32_t link : way) ++users[static_cast<std::size_t>(link)];
  }
  std::optional<std::size_t> slowest;
  const auto share = [&](std::size_t link) { return wiring.node_links[link].achieved.value / users[link]; };
  for (std::size_t link = 0; link < users.size(); ++link) {
    if (users[link] > 0 && (!slowest || share(link) < share(*slowest))) slowest = link;
  }
  if (!slowest) return "";
  return fmt::format("on the way to the NICs node{}/{} leaves {} to each of {} GPUs", node.value,
                     wiring.node_links[*slowest].name, to_text(BytesPerSecond{share(*slowest)}), users[*slowest]);
}

std::string wire_effect(const Topology& topology, const FaultSpec& fault, const std::string& name) {
  const NodeId node = first_node(fault);
  for (const Link& link : wiring_of(topology, node).node_links) {
    if (link.name != name) continue;
    const double before = link.left > 0 ? link.achieved.value / link.left : 0;
    return rates(fmt::format("node{}/{}", node.value, name), link.achieved, {before});
  }
  return "";
}

std::string leaf_effect(const Topology& topology, const FaultSpec& fault) {
  const auto matches = [&](const Link& link) {
    const std::string group = fmt::format("leaf-group{}/", std::max<std::int64_t>(0, fault.leaf_group));
    const bool here = topology.cluster.fabric.kind == FabricKind::dragonfly || link.name.starts_with(group);
    return here && (fault.rail < 0 || link.name.find(fmt::format("/rail{}/", fault.rail)) != std::string::npos);
  };
  const std::int64_t first = first_trunk(topology);
  const std::int64_t group = std::max<std::int64_t>(0, fault.leaf_group);
  const std::int64_t per_group = 2 * leaves_per_group(topology) * cables_per_leaf(topology);
  const std::int64_t begin = topology.cluster.fabric.kind == FabricKind::dragonfly ? 0 : group * per_group;
  for (std::int64_t trunk = begin; trunk < std::min(trunk_count(topology), begin + per_group); ++trunk) {
    const Link found = link(topology, LinkId(static_cast<std::int32_t>(first + trunk)));
    if (matches(found)) return rates(found.name, found.achieved, found.achieved / found.left);
  }
  return "";
}

}  // namespace

std::string fault_effect(const Topology& topology, const FaultSpec& fault) {
  switch (fault.kind) {
    case FaultKind::wire: {
      const std::string there = wire_effect(topology, fault, fault.from + "->" + fault.to);
      return there.empty() ? wire_effect(topology, fault, fault.to + "->" + fault.from) : there;
    }
    case FaultKind::nic: {
      const std::string way = fault.left > 0 ? "" : way_out(topology, first_node(fault));
      return wire_effect(topology, fault, fault.device + "/up") + (way.empty() ? "" : "; " + way);
    }
    case FaultKind::leaf:
    case FaultKind::background:
      return leaf_effect(topology, fault);
    case FaultKind::gpudirect_off:
    case FaultKind::access_control:
    case FaultKind::nic_moved:
      return way_out(topology, first_node(fault));
    case FaultKind::gpu:
      break;
  }
  return "";
}

}  // namespace stagecraft

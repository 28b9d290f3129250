#include "topology/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/fabric.hpp"

namespace stagecraft {

std::int64_t gpu_count(const Topology& topology) {
  return topology.cluster.nodes * static_cast<std::int64_t>(topology.gpus_per_node);
}

std::int64_t link_count(const Topology& topology) {
  return first_trunk(topology) + trunk_count(topology);
}

NodeId node_of(const Topology& topology, GpuId gpu) {
  return NodeId(gpu.value / topology.gpus_per_node);
}

Link link(const Topology& topology, LinkId id) {
  if (id.value >= first_trunk(topology)) return trunk_link(topology, id);
  const NodeId node(id.value / topology.links_per_node);
  const std::vector<Link>& links = wiring_of(topology, node).node_links;
  const auto place = static_cast<std::size_t>(id.value % topology.links_per_node);
  Link found =
      place < links.size() ? links[place] : Link{fmt::format("unused{}", place - links.size()), {}, {}, {}, {}};
  found.name = fmt::format("node{}/{}", node.value, found.name);
  return found;
}

const NodeWiring& wiring_of(const Topology& topology, NodeId node) {
  if (topology.variant_of.empty()) return topology;
  const auto found = topology.variant_of.find(node.value);
  return found == topology.variant_of.end() ? topology : topology.variants[found->second];
}

double speed_of(const Topology& topology, GpuId gpu) {
  return wiring_of(topology, node_of(topology, gpu))
      .gpu_speed[gpu.index() % static_cast<std::size_t>(topology.gpus_per_node)];
}

std::size_t kind_of(const Topology& topology, GpuId gpu) {
  return wiring_of(topology, node_of(topology, gpu)).kind;
}

bool is_even(const Topology& topology) {
  if (!topology.cluster.other_nodes.empty()) return false;
  return std::all_of(topology.cluster.faults.begin(), topology.cluster.faults.end(),
                     [](const FaultSpec& fault) { return is_even(fault); });
}

}  // namespace stagecraft

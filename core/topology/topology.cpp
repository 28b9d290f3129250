#include "topology/topology.hpp"

#include <fmt/format.h>

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
  Link found = topology.node_links[static_cast<std::size_t>(id.value % topology.links_per_node)];
  found.name = fmt::format("node{}/{}", id.value / topology.links_per_node, found.name);
  return found;
}

}  // namespace stagecraft

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/input_error.hpp"
#include "topology/fabric.hpp"
#include "topology/node_wiring.hpp"
#include "topology/topology.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t largest_node = 1024;  // devices

[[noreturn]] void refuse(const std::string& pointer, const std::string& got, const std::string& expected,
                         const std::string& nearest = "") {
  throw InputError(InputProblem{"", 0, 0, pointer, got, expected, nearest});
}

void check_rates(const FabricSpec& fabric) {
  if (!(fabric.oversubscription > 0)) {
    refuse("/fabric/oversubscription", fmt::format("{}", fabric.oversubscription), "a ratio above 0", "1");
  }
  if (fabric.kind != FabricKind::dragonfly) return;
  for (const auto& [rate, key] : {std::pair{fabric.local_rate, "local_rate"}, {fabric.global_rate, "global_rate"}}) {
    if (rate.value > 0) continue;
    refuse(fmt::format("/fabric/{}", key), to_text(rate), "a rate above 0", "\"" + to_text(fabric.nic_nominal) + "\"");
  }
}

void check_ways_out(const Topology& topology, const NodeWiring& wiring) {
  for (std::size_t gpu = 0; gpu < wiring.nic_of_gpu.size() && topology.cluster.nodes > 1; ++gpu) {
    if (wiring.nic_of_gpu[gpu] >= 0) continue;
    refuse("/node/wires", fmt::format("no path from GPU {} to a NIC", gpu),
           "wires that connect every GPU to a NIC, since there are several nodes");
  }
}

void check_fabric(const ClusterSpec& cluster, const Topology& topology) {
  const FabricSpec& fabric = cluster.fabric;
  if (cluster.nodes < 1) refuse("/nodes", fmt::format("{}", cluster.nodes), "at least one node", "1");
  if (cluster.nodes > 1 && fabric.kind == FabricKind::none) {
    refuse("/fabric/kind", "none", fmt::format("a fabric that joins {} nodes", cluster.nodes), "single_switch");
  }
  if (fabric.kind == FabricKind::none) return;
  check_rates(fabric);
  check_ways_out(topology, topology);
  for (const NodeWiring& wiring : topology.variants) check_ways_out(topology, wiring);
}

void check_size(const ClusterSpec& cluster, const Topology& topology) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t per_node = 2 * std::int64_t{topology.nics_per_node} + topology.links_per_node + 1;
  if (cluster.nodes > most / per_node || cluster.nodes > most / topology.gpus_per_node) {
    refuse("/nodes", fmt::format("{}", cluster.nodes), "a cluster whose links can be numbered with 31 bits",
           fmt::format("{}", most / per_node));
  }
  if (trunk_count(topology) > most - first_trunk(topology)) {
    refuse("/fabric", fmt::format("{} cables between switches", trunk_count(topology)),
           "a fabric whose links can be numbered with 31 bits; more nodes per leaf group have fewer switches");
  }
}

bool is_of_node(const FaultSpec& fault) {
  return fault.kind != FaultKind::leaf && fault.kind != FaultKind::background;
}

/// Nodes with the same faults share a wiring.
void add_variants(Topology& topology, const ClusterSpec& cluster) {
  std::set<std::int64_t> nodes;
  for (const FaultSpec& fault : cluster.faults) {
    if (is_of_node(fault)) nodes.insert(fault.nodes.begin(), fault.nodes.end());
  }
  std::map<std::vector<const FaultSpec*>, std::size_t> known;
  for (const std::int64_t node : nodes) {
    std::vector<const FaultSpec*> here;
    for (const FaultSpec& fault : cluster.faults) {
      const bool listed = std::find(fault.nodes.begin(), fault.nodes.end(), node) != fault.nodes.end();
      if (is_of_node(fault) && (fault.nodes.empty() || listed)) here.push_back(&fault);
    }
    const auto [variant, is_new] = known.emplace(here, topology.variants.size());
    if (is_new) topology.variants.push_back(make_wiring(cluster, apply_faults(cluster.node, here)));
    topology.variant_of.emplace(node, variant->second);
  }
}

void add_leaf_faults(Topology& topology, const ClusterSpec& cluster) {
  for (const FaultSpec& fault : cluster.faults) {
    if (is_of_node(fault)) continue;
    const auto [left, is_new] = topology.leaf_left.emplace(std::pair{fault.leaf_group, fault.rail}, fault.left);
    if (!is_new) left->second *= fault.left;
  }
}

}  // namespace

Topology build_topology(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  if (node.devices.size() > largest_node) {
    refuse("/node/devices", fmt::format("{} devices", node.devices.size()),
           fmt::format("at most {} devices in a node", largest_node), fmt::format("{}", largest_node));
  }
  Topology topology;
  topology.cluster = cluster;
  topology.gpus_per_node = static_cast<std::int32_t>(gpus_per_node(node));
  topology.nics_per_node = static_cast<std::int32_t>(nics_per_node(node));
  if (topology.gpus_per_node == 0) refuse("/node/devices", "no GPU", "at least one device of kind gpu");

  std::vector<const FaultSpec*> everywhere;
  for (const FaultSpec& fault : cluster.faults) {
    if (is_of_node(fault) && fault.nodes.empty()) everywhere.push_back(&fault);
  }
  static_cast<NodeWiring&>(topology) = make_wiring(cluster, apply_faults(node, everywhere));
  topology.links_per_node = static_cast<std::int32_t>(topology.node_links.size());
  add_variants(topology, cluster);
  add_leaf_faults(topology, cluster);
  check_fabric(cluster, topology);
  check_size(cluster, topology);
  return topology;
}

}  // namespace stagecraft

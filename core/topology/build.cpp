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

void check_fabric_rates(const FabricSpec& fabric) {
  if (!(fabric.oversubscription > 0)) {
    refuse("/fabric/oversubscription", fmt::format("{}", fabric.oversubscription), "a ratio above 0", "1");
  }
  if (fabric.kind != FabricKind::dragonfly) return;
  for (const auto& [rate, key] : {std::pair{fabric.local_rate, "local_rate"}, {fabric.global_rate, "global_rate"}}) {
    if (rate.value > 0) continue;
    refuse(fmt::format("/fabric/{}", key), to_text(rate), "a rate above 0", "\"" + to_text(fabric.nic_nominal) + "\"");
  }
}

std::string pointer_of(std::size_t kind, const char* field) {
  return kind == 0 ? fmt::format("/node/{}", field) : fmt::format("/other_nodes/{}/cluster/node/{}", kind - 1, field);
}

void check_ways_out(const Topology& topology, const NodeWiring& wiring) {
  for (std::size_t gpu = 0; gpu < wiring.nic_of_gpu.size() && topology.cluster.nodes > 1; ++gpu) {
    if (wiring.nic_of_gpu[gpu] >= 0) continue;
    refuse(pointer_of(wiring.kind, "wires"), fmt::format("no path from GPU {} to a NIC", gpu),
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
  check_fabric_rates(fabric);
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

using Faults = std::vector<const FaultSpec*>;

NodeWiring wiring_with(const Topology& topology, std::size_t kind, const Faults& faults) {
  const ClusterSpec& cluster = topology.cluster;
  return make_wiring(cluster, kind, apply_faults(node_of_kind(cluster, kind), faults), topology.nics_per_node);
}

/// Nodes of one kind with the same faults share a wiring.
void add_variants(Topology& topology, const Faults& everywhere) {
  const ClusterSpec& cluster = topology.cluster;
  std::set<std::int64_t> nodes;
  for (const FaultSpec& fault : cluster.faults) {
    if (is_of_node(fault)) nodes.insert(fault.nodes.begin(), fault.nodes.end());
  }
  std::map<std::pair<std::size_t, Faults>, std::size_t> known;
  const auto add = [&](std::int64_t node, std::size_t kind, const Faults& faults) {
    const auto [variant, is_new] = known.emplace(std::pair{kind, faults}, topology.variants.size());
    if (is_new) topology.variants.push_back(wiring_with(topology, kind, faults));
    topology.variant_of.emplace(node, variant->second);
  };
  for (const std::int64_t node : nodes) {
    Faults here;
    for (const FaultSpec& fault : cluster.faults) {
      const bool listed = std::find(fault.nodes.begin(), fault.nodes.end(), node) != fault.nodes.end();
      if (is_of_node(fault) && (fault.nodes.empty() || listed)) here.push_back(&fault);
    }
    add(node, kind_of_node(cluster, node), here);
  }
  for (std::size_t kind = 1; kind < kind_count(cluster); ++kind) {
    const std::int64_t first = first_node_of(cluster, kind);
    for (std::int64_t node = first; node < first + cluster.other_nodes[kind - 1].count; ++node) {
      if (nodes.count(node) == 0) add(node, kind, everywhere);
    }
  }
}

/// Links are numbered as if every node had as many as the one with the most.
void count_devices(Topology& topology) {
  const ClusterSpec& cluster = topology.cluster;
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    const NodeSpec& node = node_of_kind(cluster, kind);
    if (node.devices.size() > largest_node) {
      refuse(pointer_of(kind, "devices"), fmt::format("{} devices", node.devices.size()),
             fmt::format("at most {} devices in a node", largest_node), fmt::format("{}", largest_node));
    }
    const auto gpus = static_cast<std::int32_t>(gpus_per_node(node));
    const auto nics = static_cast<std::int32_t>(nics_per_node(node));
    if (gpus == 0) refuse(pointer_of(kind, "devices"), "no GPU", "at least one device of kind gpu");
    if (kind > 0 && gpus != topology.gpus_per_node) {
      refuse(pointer_of(kind, "devices"), fmt::format("{} GPUs", gpus),
             fmt::format("as many GPUs as the cluster's own nodes have: {}", topology.gpus_per_node));
    }
    topology.gpus_per_node = gpus;
    topology.nics_per_node = std::max(topology.nics_per_node, nics);
    topology.links_per_node =
        std::max(topology.links_per_node, 2 * (static_cast<std::int32_t>(node.wires.size()) + nics));
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
  Topology topology;
  topology.cluster = cluster;
  count_devices(topology);
  Faults everywhere;
  for (const FaultSpec& fault : topology.cluster.faults) {
    if (is_of_node(fault) && fault.nodes.empty()) everywhere.push_back(&fault);
  }
  static_cast<NodeWiring&>(topology) = wiring_with(topology, 0, everywhere);
  add_variants(topology, everywhere);
  add_leaf_faults(topology, cluster);
  check_fabric(cluster, topology);
  check_size(cluster, topology);
  return topology;
}

}  // namespace stagecraft

#include "spec/cluster_spec.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

std::int64_t count_of(const NodeSpec& node, DeviceKind kind) {
  return std::count_if(node.devices.begin(), node.devices.end(),
                       [kind](const DeviceSpec& device) { return device.kind == kind; });
}

}  // namespace

std::int64_t gpus_per_node(const NodeSpec& node) {
  return count_of(node, DeviceKind::gpu);
}
std::int64_t nics_per_node(const NodeSpec& node) {
  return count_of(node, DeviceKind::nic);
}

std::size_t kind_count(const ClusterSpec& cluster) {
  return 1 + cluster.other_nodes.size();
}

std::int64_t first_node_of(const ClusterSpec& cluster, std::size_t kind) {
  if (kind == 0) return 0;
  std::int64_t first = cluster.nodes;
  for (std::size_t i = kind - 1; i < cluster.other_nodes.size(); ++i) first -= cluster.other_nodes[i].count;
  return first;
}

std::size_t kind_of_node(const ClusterSpec& cluster, std::int64_t node) {
  std::size_t kind = cluster.other_nodes.size();
  while (kind > 0 && node < first_node_of(cluster, kind)) --kind;
  return kind;
}

const GpuSpec& gpu_of_kind(const ClusterSpec& cluster, std::size_t kind) {
  return kind == 0 ? cluster.gpu : cluster.other_nodes[kind - 1].gpu;
}

const NodeSpec& node_of_kind(const ClusterSpec& cluster, std::size_t kind) {
  return kind == 0 ? cluster.node : cluster.other_nodes[kind - 1].node;
}

NicRate nic_rate_of_kind(const ClusterSpec& cluster, std::size_t kind) {
  const NicRate own{cluster.fabric.nic_nominal, cluster.fabric.nic_achieved};
  if (kind == 0 || cluster.other_nodes[kind - 1].nic_nominal.value <= 0) return own;
  return {cluster.other_nodes[kind - 1].nic_nominal, cluster.other_nodes[kind - 1].nic_achieved};
}

ClusterSpec cluster_of_kind(const ClusterSpec& cluster, std::size_t kind) {
  ClusterSpec alike = cluster;
  alike.gpu = gpu_of_kind(cluster, kind);
  alike.node = node_of_kind(cluster, kind);
  alike.fabric.nic_nominal = nic_rate_of_kind(cluster, kind).nominal;
  alike.fabric.nic_achieved = nic_rate_of_kind(cluster, kind).achieved;
  alike.other_nodes.clear();
  alike.faults.clear();
  return alike;
}

}  // namespace stagecraft

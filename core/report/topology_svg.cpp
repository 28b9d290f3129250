#include "report/topology_svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/topology_picture.hpp"

namespace stagecraft {
namespace {

constexpr double margin = 24;

std::string fabric_words(const ClusterSpec& cluster) {
  const FabricSpec& fabric = cluster.fabric;
  switch (fabric.kind) {
    case FabricKind::none:
      return "one node, no fabric";
    case FabricKind::single_switch:
      return "all NICs on one switch";
    case FabricKind::fat_tree:
    case FabricKind::rail_optimised:
      break;
    case FabricKind::dragonfly:
      return fmt::format("dragonfly, {} nodes per switch, {} switches per group, {} between groups",
                         std::min(fabric.nodes_per_leaf_group, cluster.nodes), fabric.switches_per_group,
                         to_text(fabric.global_rate));
  }
  return fmt::format(
      "{}, {} nodes per leaf group, {}", fabric.kind == FabricKind::fat_tree ? "fat tree" : "rail-optimised",
      std::min(fabric.nodes_per_leaf_group, cluster.nodes),
      fabric.oversubscription > 1 ? fmt::format("{:g}:1 oversubscribed", fabric.oversubscription) : "non-blocking");
}

/// The wires of a node by kind and rate, each with a stroke of its colour.
double legend(SvgCanvas& canvas, const ClusterSpec& cluster, std::size_t kind, double y) {
  const NodeSpec& node = node_of_kind(cluster, kind);
  struct Row {
    LinkKind kind;
    BytesPerSecond nominal, achieved;
    Seconds latency;
    int count;
  };
  std::vector<Row> rows;
  for (const WireSpec& wire : node.wires) {
    const auto known = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.kind == wire.kind && row.nominal == wire.nominal && row.achieved == wire.achieved &&
             row.latency == wire.latency;
    });
    if (known != rows.end()) {
      ++known->count;
    } else {
      rows.push_back({wire.kind, wire.nominal, wire.achieved, wire.latency, 1});
    }
  }
  if (cluster.fabric.kind != FabricKind::none) {
    const NicRate nic = nic_rate_of_kind(cluster, kind);
    rows.push_back({LinkKind::network, nic.nominal, nic.achieved, cluster.fabric.nic_latency,
                    static_cast<int>(nics_per_node(node))});
  }
  for (const Row& row : rows) {
    canvas.line({margin, y - 4}, {margin + 26, y - 4}, paint_of(row.kind), 3);
    const char* const what = row.kind == LinkKind::nvlink   ? "GPU link"
                             : row.kind == LinkKind::pcie   ? "PCIe"
                             : row.kind == LinkKind::socket ? "between sockets"
                                                            : "NIC";
    canvas.text({margin + 36, y}, fmt::format("{} × {}", row.count, what), {});
    canvas.text({margin + 190, y}, rates(row.nominal, row.achieved) + " each way, " + to_text(row.latency), {});
    y += 18;
  }
  return y;
}

}  // namespace

const char* paint_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "#4f8f3a";
    case DeviceKind::nvswitch:
      return "#2f6b4f";
    case DeviceKind::pcie_switch:
      return "#4a7fb5";
    case DeviceKind::cpu:
      return "#6b7280";
    case DeviceKind::nic:
      break;
  }
  return "#d0762b";
}

const char* paint_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return "#7cb342";
    case LinkKind::pcie:
      return "#7fa8d3";
    case LinkKind::socket:
      return "#9ca3af";
    case LinkKind::network:
      break;
  }
  return "#e59a55";
}

std::string gigabytes(BytesPerSecond rate) {
  return fmt::format("{:.3g}", rate.value * 1e-9);
}

std::string rates(BytesPerSecond nominal, BytesPerSecond achieved) {
  if (achieved == nominal) return to_text(nominal);
  return fmt::format("{}, {} achieved", to_text(nominal), to_text(achieved));
}

namespace {

std::string gpu_names(const ClusterSpec& cluster) {
  std::string names = cluster.gpu.name;
  for (const OtherNodes& other : cluster.other_nodes) names += " or " + other.gpu.name;
  return names;
}

/// "Node: DGX A100", or where nodes differ "Nodes 4 to 7: DGX H100".
std::string node_title(const ClusterSpec& cluster, std::size_t kind) {
  const NodeSpec& node = node_of_kind(cluster, kind);
  if (cluster.other_nodes.empty()) return fmt::format("Node: {}", node.name);
  const std::int64_t last = (kind + 1 == kind_count(cluster) ? cluster.nodes : first_node_of(cluster, kind + 1)) - 1;
  return fmt::format("Nodes {} to {}: {}, {}", first_node_of(cluster, kind), last, node.name,
                     gpu_of_kind(cluster, kind).name);
}

}  // namespace

std::string topology_svg(const Topology& topology) {
  const ClusterSpec& cluster = topology.cluster;
  SvgCanvas canvas;
  canvas.text({margin, 34}, cluster.name, {20, "#111827", "start", true, false});
  const std::string what = fmt::format("{} node{} of {} × {}, {}", cluster.nodes, cluster.nodes == 1 ? "" : "s",
                                       topology.gpus_per_node, gpu_names(cluster), fabric_words(cluster));
  canvas.text({margin, 54}, what, {12, "#4b5563", "start", false, false});
  double y = 88;
  double width = 7.0 * static_cast<double>(what.size());
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    const NodeSpec& spec = node_of_kind(cluster, kind);
    canvas.text({margin, y}, node_title(cluster, kind), {14, "#111827", "start", true, false});
    canvas.text({margin, y + 17}, "numbers on wires are GB/s per direction as labelled",
                {10, "#6b7280", "start", false, false});
    const Extent node = draw_node(canvas, spec, {margin, y + 34});
    y += 34 + node.height + 22;
    y = legend(canvas, cluster, kind, y) + 26;
    width = std::max(width, node.width);
  }
  if (cluster.fabric.kind != FabricKind::none) {
    canvas.text({margin, y}, "Fabric", {14, "#111827", "start", true, false});
    const Extent fabric = draw_fabric(canvas, topology, {margin, y + 18});
    y += 18 + fabric.height;
    width = std::max(width, fabric.width);
  }
  return canvas.document(std::max(width, 640.0) + 2 * margin, y + 20);
}

}  // namespace stagecraft

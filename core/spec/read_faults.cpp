// Faults of a cluster, each held against the devices, wires and switches that the cluster has.

#include <fmt/format.h>

#include <algorithm>

#include "spec/read_cluster.hpp"

namespace stagecraft {
namespace {

constexpr double least_left = 0.001;
constexpr std::size_t most_faults = 4096;

std::string quoted(const std::string& word) {
  return word.empty() ? "" : fmt::format("\"{}\"", word);
}

bool has_leaves(const FabricSpec& fabric) {
  return fabric.kind == FabricKind::fat_tree || fabric.kind == FabricKind::rail_optimised;
}

using Nodes = std::vector<const NodeSpec*>;

/// One of each kind that has the fault.
Nodes nodes_with(const ClusterSpec& cluster, const FaultSpec& fault) {
  Nodes found;
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    const bool has = fault.nodes.empty() || std::any_of(fault.nodes.begin(), fault.nodes.end(), [&](std::int64_t node) {
                       return kind_of_node(cluster, node) == kind;
                     });
    if (has) found.push_back(&node_of_kind(cluster, kind));
  }
  return found;
}

/// Reads the name of a device that all the nodes have; any of `kinds`, or all if there are none.
std::string read_device(const JsonNode& value, const Nodes& nodes, const std::vector<DeviceKind>& kinds) {
  const std::string name = read_nonempty_string(value);
  for (const NodeSpec* const node : nodes) {
    std::vector<std::string> names;
    for (const DeviceSpec& device : node->devices) {
      if (kinds.empty() || std::find(kinds.begin(), kinds.end(), device.kind) != kinds.end())
        names.push_back(device.name);
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string wanted;
    for (const DeviceKind kind : kinds) wanted += fmt::format("{}{}", wanted.empty() ? "" : " or ", to_text(kind));
    value.fail(fmt::format("a {} of the node{}", wanted.empty() ? "device" : wanted,
                           nodes.size() > 1 ? fmt::format(" {}", node->name) : ""),
               quoted(nearest_word(name, names)));
  }
  return name;
}

std::vector<std::int64_t> read_nodes(const JsonNode& value, std::int64_t nodes) {
  std::vector<std::int64_t> found = read_integers(value, 0, nodes - 1);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) value.fail("the numbers of the nodes that have the fault; all of them if left out");
  return found;
}

void check_wire(const JsonNode& element, const NodeSpec& node, const FaultSpec& fault) {
  const bool wired = std::any_of(node.wires.begin(), node.wires.end(), [&](const WireSpec& wire) {
    return (wire.from == fault.from && wire.to == fault.to) || (wire.from == fault.to && wire.to == fault.from);
  });
  if (wired) return;
  std::string nearest;
  for (const WireSpec& wire : node.wires) {
    if (nearest.empty() && (wire.from == fault.from || wire.to == fault.from))
      nearest = fmt::format("\"from\": \"{}\", \"to\": \"{}\"", wire.from, wire.to);
  }
  element.fail("the two ends of a wire of the node", nearest,
               fmt::format("no wire between \"{}\" and \"{}\"", fault.from, fault.to));
}

FaultSpec read_fault(const JsonNode& element, const ClusterSpec& cluster, const std::string& where, Reading& reading) {
  FaultSpec fault;
  ObjectReader fields(element, where, reading);
  fields.required("kind", fault.kind, word_of(fault_kind_words));
  const FabricSpec& fabric = cluster.fabric;
  const auto needs_fabric = [&](bool fits, const char* wanted) {
    if (!fits)
      element.at("kind").fail(
          fmt::format("a fault that this fabric can have: {} needs {}", to_text(fault.kind), wanted), "\"nic\"");
  };
  const auto on_nodes = [&] {
    fields.optional("nodes", fault.nodes, [&](const JsonNode& value) { return read_nodes(value, cluster.nodes); });
  };
  const auto device = [&](std::vector<DeviceKind> kinds) {
    return [&, kinds = std::move(kinds)](const JsonNode& value) {
      return read_device(value, nodes_with(cluster, fault), kinds);
    };
  };
  const auto leaf_group = [&] {
    const std::int64_t groups = (cluster.nodes - 1) / std::max<std::int64_t>(1, fabric.nodes_per_leaf_group);
    fields.optional("leaf_group", fault.leaf_group, integer_in(0, std::max<std::int64_t>(0, groups)));
  };
  std::int64_t most_nics = 0;
  switch (fault.kind) {
    case FaultKind::wire:
      on_nodes();
      fields.required("from", fault.from, device({}));
      fields.required("to", fault.to, device({}));
      fields.required("rate", fault.left, number_in(0, 1));
      if (fault.from.empty() || fault.to.empty()) break;
      for (const NodeSpec* const node : nodes_with(cluster, fault)) check_wire(element, *node, fault);
      break;
    case FaultKind::nic:
      on_nodes();
      fields.required("device", fault.device, device({DeviceKind::nic}));
      fields.required("rate", fault.left, number_in(0, 1));
      break;
    case FaultKind::gpu:
      on_nodes();
      fields.required("device", fault.device, device({DeviceKind::gpu}));
      fields.required("speed", fault.left, number_in(least_left, 1));
      break;
    case FaultKind::nic_moved:
      on_nodes();
      fields.required("device", fault.device, device({DeviceKind::nic}));
      fields.required("to", fault.to, device({DeviceKind::cpu, DeviceKind::pcie_switch}));
      break;
    case FaultKind::leaf:
      needs_fabric(has_leaves(fabric), "a fat_tree or rail_optimised fabric");
      leaf_group();
      for (std::size_t kind = 0; kind < kind_count(cluster); ++kind)
        most_nics = std::max(most_nics, nics_per_node(node_of_kind(cluster, kind)));
      if (fabric.kind == FabricKind::rail_optimised)
        fields.optional("rail", fault.rail, integer_in(0, std::max<std::int64_t>(1, most_nics) - 1));
      fields.required("rate", fault.left, number_in(least_left, 1));
      break;
    case FaultKind::background: {
      needs_fabric(has_leaves(fabric) || fabric.kind == FabricKind::dragonfly, "a fabric of several switches");
      if (has_leaves(fabric)) leaf_group();
      double load = 0;
      fields.required("load", load, number_in(0, 1 - least_left));
      fault.left = 1 - load;
      break;
    }
    case FaultKind::gpudirect_off:
    case FaultKind::access_control:
      on_nodes();
      break;
  }
  fields.finish();
  return fault;
}

}  // namespace

std::vector<FaultSpec> read_faults(const JsonNode& list, const ClusterSpec& cluster, const std::string& where,
                                   Reading& reading) {
  std::vector<FaultSpec> faults;
  for (const JsonNode& element : list.elements()) {
    if (faults.size() == most_faults) list.fail(fmt::format("at most {} faults", most_faults), "", "more");
    const std::string pointer = fmt::format("{}/{}", where, faults.size());
    faults.emplace_back();
    reading.attempt([&] { faults.back() = read_fault(element, cluster, pointer, reading); });
  }
  return faults;
}

}  // namespace stagecraft

#include "spec/read_cluster.hpp"

#include <fmt/format.h>

#include <set>

namespace stagecraft {

FabricSpec read_fabric(const JsonNode& object, const std::string& where, Reading& reading) {
  FabricSpec fabric;
  ObjectReader fields(object, where, reading);
  const auto rate = [](const JsonNode& node) { return read_bytes_per_second(node, {1e3}, {1e15}); };
  const auto latency = [](const JsonNode& node) { return read_seconds(node, {0}, {1}); };
  fields.required("kind", fabric.kind, word_of(fabric_kind_words));
  if (fabric.kind != FabricKind::none) {
    fields.required("nic_nominal", fabric.nic_nominal, rate);
    fabric.nic_achieved = fabric.nic_nominal;
    fields.defaulted(
        "nic_achieved", fabric.nic_achieved, rate, [](BytesPerSecond value) { return to_text(value); },
        "the nominal rate: none was measured");
    fields.required("nic_latency", fabric.nic_latency, latency);
    fields.required("switch_latency", fabric.switch_latency, latency);
    if (fabric.kind != FabricKind::single_switch) {
      fields.defaulted("nodes_per_leaf_group", fabric.nodes_per_leaf_group, integer_in(1, most_nodes), text_of,
                       "as in a DGX SuperPOD");
      fields.optional("routing", fabric.routing, word_of(routing_words));
    }
    if (fabric.kind == FabricKind::dragonfly) {
      fields.required("switches_per_group", fabric.switches_per_group, integer_in(1, most_nodes));
      fields.required("local_rate", fabric.local_rate, rate);
      fields.required("global_rate", fabric.global_rate, rate);
    } else if (fabric.kind != FabricKind::single_switch) {
      fields.defaulted("oversubscription", fabric.oversubscription, number_in(0.01, 1000.0), text_of_number,
                       "non-blocking");
      if (fabric.routing == Routing::fixed)
        fields.optional("hash_seed", fabric.hash_seed, integer_in(0, largest_exact_integer));
    }
    fields.required("source", fabric.source, read_nonempty_string);
  } else {
    fields.optional("source", fabric.source, read_string);
  }
  fields.finish();
  return fabric;
}

/// Takes the GPUs behind the first `count`, and their wires, out of the node.
void keep_first_gpus(NodeSpec& node, std::int64_t count) {
  std::set<std::string> dropped;
  for (const DeviceSpec& device : node.devices) {
    if (device.kind == DeviceKind::gpu && --count < 0) dropped.insert(device.name);
  }
  std::erase_if(node.devices, [&](const DeviceSpec& device) { return dropped.contains(device.name); });
  std::erase_if(node.wires,
                [&](const WireSpec& wire) { return dropped.contains(wire.from) || dropped.contains(wire.to); });
}

void read_gpus_per_node(ObjectReader& fields, NodeSpec& node) {
  const std::int64_t all = gpus_per_node(node);
  std::int64_t used = all;
  const bool given = fields.optional("gpus_per_node", used, [&](const JsonNode& value) {
    const std::int64_t count = integer_in(1, 1 << 20)(value);
    if (count > all) value.fail(fmt::format("at most the {} GPUs of a node", all), fmt::format("{}", all));
    return count;
  });
  if (given) keep_first_gpus(node, used);
}

ClusterSpec read_cluster(const JsonNode& object, const std::string& where, Reading& reading,
                         const ClusterParts& parts) {
  ClusterSpec cluster;
  ObjectReader fields(object, where, reading);
  std::string description;
  fields.required("name", cluster.name, read_nonempty_string);
  fields.optional("description", description, read_string);
  fields.required("source", cluster.source, read_nonempty_string);
  fields.required("gpu", cluster.gpu, parts.gpu);
  fields.required("node", cluster.node,
                  [&](const JsonNode& node) { return read_node(node, where + "/node", reading); });
  cluster.node.gpu = cluster.gpu.name;
  fields.required("nodes", cluster.nodes, integer_in(1, most_nodes));
  if (reading.problems.empty()) read_gpus_per_node(fields, cluster.node);
  fields.required("fabric", cluster.fabric,
                  [&](const JsonNode& node) { return read_fabric(node, where + "/fabric", reading); });
  fields.required("calibration", cluster.calibration, read_nonempty_string);
  bool whole = reading.problems.empty();
  fields.optional("other_nodes", cluster.other_nodes, [&](const JsonNode& list) {
    return whole ? read_other_nodes(list, cluster, where + "/other_nodes", reading, parts) : std::vector<OtherNodes>{};
  });
  whole = whole && reading.problems.empty();
  fields.optional("faults", cluster.faults, [&](const JsonNode& list) {
    return whole ? read_faults(list, cluster, where + "/faults", reading) : std::vector<FaultSpec>{};
  });
  fields.finish();
  reading.attempt([&] {
    if (!reading.problems.empty()) return;
    if (cluster.fabric.kind == FabricKind::none && cluster.nodes > 1)
      object.at("nodes").fail("1, or a fabric that joins the nodes", "1");
    if (cluster.fabric.kind != FabricKind::none && nics_per_node(cluster.node) == 0)
      object.at("fabric").fail("a device of the kind \"nic\" in the node", "", "a fabric, but no NIC");
  });
  return cluster;
}

}  // namespace stagecraft

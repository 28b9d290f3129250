// The inside of a machine: devices and the wires between them.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "spec/name_pattern.hpp"
#include "spec/read_cluster.hpp"

namespace stagecraft {
namespace {

std::vector<DeviceSpec> read_devices(const JsonNode& node, const std::string& where, Reading& reading) {
  std::vector<DeviceSpec> devices;
  std::set<std::string> names;
  for (const JsonNode& element : node.elements()) {
    ObjectReader fields(element, where, reading);
    DeviceKind kind = DeviceKind::gpu;
    std::vector<NumberedName> numbered;
    fields.required("kind", kind, word_of(device_kind_words));
    fields.required("name", numbered, expand_names);
    fields.finish();
    for (const NumberedName& device : numbered) {
      if (!names.insert(device.name).second)
        element.at("name").fail("a name of its own for each device", "",
                                fmt::format("\"{}\" a second time", device.name));
      devices.push_back({kind, device.name});
    }
    if (devices.size() > most_devices) node.fail(fmt::format("at most {} devices", most_devices), "", "more");
  }
  const bool has_gpu = std::any_of(devices.begin(), devices.end(),
                                   [](const DeviceSpec& device) { return device.kind == DeviceKind::gpu; });
  if (!has_gpu && reading.problems.empty()) node.fail("at least one device of the kind \"gpu\"");
  return devices;
}

using Pair = std::pair<std::string, std::string>;

std::vector<Pair> read_pairs(const JsonNode& node) {
  std::vector<Pair> pairs;
  for (const JsonNode& element : node.elements()) {
    const std::vector<std::string> ends = read_strings(element);
    if (ends.size() != 2) element.fail("two device names, such as [\"gpu0\", \"gpu1\"]");
    pairs.emplace_back(ends[0], ends[1]);
    if (pairs.size() > most_wires) node.fail(fmt::format("at most {} wires", most_wires), "", "more");
  }
  return pairs;
}

// The pairs that an entry of "wires" stands for: {"from", "to"} with patterns, or {"pairs"}.
std::vector<Pair> read_ends(ObjectReader& fields) {
  std::vector<Pair> pairs;
  const bool listed = fields.optional("pairs", pairs, read_pairs);
  std::vector<NumberedName> from;
  if (listed) return pairs;
  fields.required("from", from, expand_names);
  fields.required("to", pairs, [&](const JsonNode& to) {
    std::vector<Pair> found;
    for (const NumberedName& device : from) found.emplace_back(device.name, name_at(to, device.i));
    return found;
  });
  return pairs;
}

void check_ends(const JsonNode& element, const std::vector<Pair>& pairs, const std::vector<std::string>& names,
                std::set<Pair>& wired) {
  for (const Pair& pair : pairs) {
    for (const std::string& end : {pair.first, pair.second})
      if (!std::binary_search(names.begin(), names.end(), end))
        element.fail("devices of this node", nearest_word(end, names), fmt::format("a wire to \"{}\"", end));
    if (pair.first == pair.second)
      element.fail("two different devices", "", fmt::format("\"{}\" at both ends", pair.first));
    if (!wired.insert(std::minmax(pair.first, pair.second)).second)
      element.fail("one wire between two devices (add up the rates of parallel ones)", "",
                   fmt::format("a second wire between \"{}\" and \"{}\"", pair.first, pair.second));
  }
}

std::vector<WireSpec> read_wires(const JsonNode& node, const std::vector<DeviceSpec>& devices, const std::string& where,
                                 Reading& reading) {
  std::vector<std::string> names;
  for (const DeviceSpec& device : devices) names.push_back(device.name);
  std::sort(names.begin(), names.end());
  std::set<Pair> wired;
  std::vector<WireSpec> wires;
  std::size_t position = 0;
  for (const JsonNode& element : node.elements()) {
    WireSpec wire;
    ObjectReader fields(element, where + "/" + std::to_string(position++), reading);
    const std::vector<Pair> pairs = read_ends(fields);
    const auto rate = [](const JsonNode& value) { return read_bytes_per_second(value, {1e3}, {1e15}); };
    fields.required("kind", wire.kind, word_of(link_kind_words));
    fields.required("nominal", wire.nominal, rate);
    wire.achieved = wire.nominal;
    fields.defaulted(
        "achieved", wire.achieved, rate, [](BytesPerSecond value) { return to_text(value); },
        "the nominal rate: none was measured");
    fields.required("latency", wire.latency, [](const JsonNode& value) { return read_seconds(value, {0}, {1}); });
    fields.required("source", wire.source, read_nonempty_string);
    fields.finish();
    check_ends(element, pairs, names, wired);
    for (const Pair& pair : pairs) {
      wire.from = pair.first;
      wire.to = pair.second;
      wires.push_back(wire);
    }
    if (wires.size() > most_wires) node.fail(fmt::format("at most {} wires", most_wires), "", "more");
  }
  return wires;
}

}  // namespace

NodeSpec read_node(const JsonNode& object, const std::string& where, Reading& reading) {
  NodeSpec node;
  ObjectReader fields(object, where, reading);
  fields.required("name", node.name, read_nonempty_string);
  fields.required("devices", node.devices,
                  [&](const JsonNode& value) { return read_devices(value, where + "/devices", reading); });
  fields.required("wires", node.wires,
                  [&](const JsonNode& value) { return read_wires(value, node.devices, where + "/wires", reading); });
  fields.defaulted("peer_to_peer", node.peer_to_peer, read_boolean, text_of_bool, "the GPUs can reach each other");
  fields.required("host_memory", node.host_memory,
                  [](const JsonNode& value) { return read_bytes(value, {1e6}, {1e16}); });
  const bool drives =
      fields.optional("nvme", node.nvme, [](const JsonNode& value) { return read_bytes(value, {1e6}, {1e16}); });
  const auto rate = [](const JsonNode& value) { return read_bytes_per_second(value, {1e6}, {1e13}); };
  if (drives) {
    fields.required("nvme_read", node.nvme_read, rate);
    fields.required("nvme_write", node.nvme_write, rate);
  }
  fields.required("source", node.source, read_nonempty_string);
  fields.finish();
  return node;
}

}  // namespace stagecraft

#include "topology/node_paths.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

std::int64_t cost_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return 1;
    case LinkKind::pcie:
      return 100;
    case LinkKind::socket:
    case LinkKind::network:
      break;
  }
  return 10'000;
}

constexpr std::int64_t gpu_transit_cost = 10;
constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();

struct Arrival {
  std::int64_t distance = unreached;
  double bottleneck = 0;
  std::int32_t link = -1;
  DeviceIndex before = 0;
  bool nvlink_only = true;
  bool settled = false;
};

bool better(const Arrival& a, const Arrival& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.bottleneck > b.bottleneck;
}

/// Whether a copy that arrived at `device` may go on over a wire of `kind`.
bool passes_through(DeviceKind device, const Arrival& arrival, LinkKind kind) {
  if (device == DeviceKind::nic) return false;
  if (device != DeviceKind::gpu) return true;
  return arrival.nvlink_only && kind == LinkKind::nvlink;
}

}  // namespace

NodeGraph make_node_graph(const NodeSpec& node) {
  std::map<std::string, DeviceIndex> index;
  std::vector<std::string> names;
  for (std::size_t device = 0; device < node.devices.size(); ++device) {
    index.emplace(node.devices[device].name, device);
    names.push_back(node.devices[device].name);
  }
  NodeGraph graph;
  graph.node = &node;
  graph.steps.resize(node.devices.size());
  std::vector<InputProblem> problems;
  for (std::size_t wire = 0; wire < node.wires.size(); ++wire) {
    const WireSpec& spec = node.wires[wire];
    const auto from = index.find(spec.from);
    const auto to = index.find(spec.to);
    for (const auto& [end, name, key] : {std::tuple{from, spec.from, "from"}, std::tuple{to, spec.to, "to"}}) {
      if (end != index.end()) continue;
      problems.push_back({"", 0, 0, "/node/wires/" + std::to_string(wire) + "/" + key, name,
                          "the name of a device of the node", nearest_word(name, names)});
    }
    if (from == index.end() || to == index.end()) continue;
    if (spec.achieved.value <= 0) continue;  // down
    const auto link = static_cast<std::int32_t>(2 * wire);
    graph.steps[from->second].push_back({to->second, link});
    graph.steps[to->second].push_back({from->second, link + 1});
  }
  if (!problems.empty()) throw InputError(problems);
  return graph;
}

std::vector<DevicePath> paths_from(const NodeGraph& graph, DeviceIndex from) {
  const NodeSpec& node = *graph.node;
  std::vector<Arrival> arrivals(node.devices.size());
  arrivals[from].distance = 0;
  arrivals[from].bottleneck = std::numeric_limits<double>::infinity();
  for (;;) {
    DeviceIndex at = arrivals.size();
    for (DeviceIndex device = 0; device < arrivals.size(); ++device) {
      if (arrivals[device].settled || arrivals[device].distance == unreached) continue;
      if (at == arrivals.size() || better(arrivals[device], arrivals[at])) at = device;
    }
    if (at == arrivals.size()) break;
    arrivals[at].settled = true;
    for (const NodeGraph::Step& step : graph.steps[at]) {
      const WireSpec& wire = node.wires[static_cast<std::size_t>(step.link) / 2];
      const bool transit = at != from;
      if (arrivals[step.to].settled) continue;
      if (transit && !passes_through(node.devices[at].kind, arrivals[at], wire.kind)) continue;
      const bool through_gpu = transit && node.devices[at].kind == DeviceKind::gpu;
      const Arrival next{arrivals[at].distance + cost_of(wire.kind) + (through_gpu ? gpu_transit_cost : 0),
                         std::min(arrivals[at].bottleneck, wire.achieved.value),
                         step.link,
                         at,
                         arrivals[at].nvlink_only && wire.kind == LinkKind::nvlink,
                         false};
      if (better(next, arrivals[step.to])) arrivals[step.to] = next;
    }
  }

  std::vector<DevicePath> paths(arrivals.size());
  for (DeviceIndex to = 0; to < arrivals.size(); ++to) {
    if (arrivals[to].distance == unreached) continue;
    DevicePath& path = paths[to];
    path.found = true;
    path.distance = arrivals[to].distance;
    path.nvlink_only = arrivals[to].nvlink_only;
    for (DeviceIndex at = to; at != from; at = arrivals[at].before) path.links.push_back(arrivals[at].link);
    std::reverse(path.links.begin(), path.links.end());
  }
  return paths;
}

}  // namespace stagecraft

// Whether the wires of a node join what has to be joined.

#include <fmt/format.h>

#include <algorithm>

#include "topology/check_parts.hpp"
#include "topology/node_paths.hpp"

namespace stagecraft {
namespace {

struct Reach {
  const NodeSpec& node;
  NodeGraph graph;
  Findings& findings;

  std::vector<DeviceIndex> of_kind(DeviceKind kind) const {
    std::vector<DeviceIndex> found;
    for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
      if (node.devices[device].kind == kind) found.push_back(device);
    }
    return found;
  }
  void error(const char* code, std::string message, std::string nearest = "") const {
    findings.push_back({Severity::error, code, "/node/wires", std::move(message), std::move(nearest)});
  }

  /// The device that most of the kind are wired to, as the end of a wire that would help `device`.
  std::string usual_wire(DeviceIndex device) const {
    std::vector<std::pair<std::string, int>> ends;
    for (DeviceIndex other = 0; other < node.devices.size(); ++other) {
      if (other == device || node.devices[other].kind != node.devices[device].kind) continue;
      for (const NodeGraph::Step& step : graph.steps[other]) {
        const std::string& end = node.devices[step.to].name;
        const auto known = std::find_if(ends.begin(), ends.end(), [&](const auto& each) { return each.first == end; });
        if (known == ends.end()) {
          ends.emplace_back(end, 1);
        } else {
          ++known->second;
        }
      }
    }
    const auto usual =
        std::max_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return usual == ends.end() ? "" : fmt::format("a wire {}-{}", node.devices[device].name, usual->first);
  }

  void check_wired() const {
    for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
      if (!graph.steps[device].empty() || node.devices.size() == 1) continue;
      error("unwired-device",
            fmt::format("{} ({}) has no wire; expected at least one", node.devices[device].name,
                        to_text(node.devices[device].kind)),
            usual_wire(device));
    }
  }

  void check_gpus() const {
    const std::vector<DeviceIndex> gpus = of_kind(DeviceKind::gpu);
    const std::vector<DevicePath> paths = paths_from(graph, gpus.front());
    for (const DeviceIndex gpu : gpus) {
      if (gpu == gpus.front() || paths[gpu].found) continue;
      error("unreachable-gpu",
            fmt::format("no path from {} to {}; expected wires that join all GPUs of a node",
                        node.devices[gpus.front()].name, node.devices[gpu].name),
            usual_wire(gpu));
    }
  }

  /// Every GPU must reach one device of the kind.
  void check_each_reaches(DeviceKind kind, Severity severity, const char* code, const char* why) const {
    const std::vector<DeviceIndex> targets = of_kind(kind);
    std::vector<std::string> without;
    DeviceIndex example = 0;
    for (const DeviceIndex gpu : of_kind(DeviceKind::gpu)) {
      const std::vector<DevicePath> paths = paths_from(graph, gpu);
      if (std::any_of(targets.begin(), targets.end(), [&](DeviceIndex target) { return paths[target].found; }))
        continue;
      if (without.empty()) example = gpu;
      without.push_back(node.devices[gpu].name);
    }
    if (without.empty()) return;
    findings.push_back({severity, code, "/node/wires",
                        fmt::format("no path from {} to a {}; expected one{}", list_of(without), to_text(kind), why),
                        targets.empty() ? fmt::format("a device of the kind \"{}\"", to_text(kind))
                                        : fmt::format("a wire {}-{}", node.devices[example].name,
                                                      node.devices[targets.front()].name)});
  }
};

}  // namespace

void check_reach(const ClusterSpec& cluster, Findings& findings) {
  const Reach reach{cluster.node, make_node_graph(cluster.node), findings};
  reach.check_wired();
  reach.check_gpus();
  if (cluster.nodes > 1) {
    reach.check_each_reaches(DeviceKind::nic, Severity::error, "gpu-without-nic", ", since there are several nodes");
  }
  if (!cluster.node.peer_to_peer) {
    reach.check_each_reaches(DeviceKind::cpu, Severity::error, "gpu-without-host",
                             ", since peer_to_peer is false and copies are staged through host memory");
  }
}

}  // namespace stagecraft

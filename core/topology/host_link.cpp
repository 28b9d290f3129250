#include "topology/host_link.hpp"

#include <algorithm>

#include "topology/node_paths.hpp"

namespace stagecraft {
namespace {

/// The way to the nearest CPU; not found if there is none.
DevicePath nearest_cpu(const NodeSpec& node, const NodeGraph& graph, DeviceIndex gpu) {
  DevicePath best;
  const std::vector<DevicePath> paths = paths_from(graph, gpu);
  for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
    if (node.devices[device].kind != DeviceKind::cpu || !paths[device].found) continue;
    if (!best.found || paths[device].distance < best.distance) best = paths[device];
  }
  return best;
}

}  // namespace

BytesPerSecond host_rate(const NodeSpec& node) {
  const NodeGraph graph = make_node_graph(node);
  std::vector<double> users(2 * node.wires.size(), 0);
  std::vector<DevicePath> paths;
  for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
    if (node.devices[device].kind != DeviceKind::gpu) continue;
    paths.push_back(nearest_cpu(node, graph, device));
    if (!paths.back().found) return {};
    for (const std::int32_t link : paths.back().links) ++users[static_cast<std::size_t>(link)];
  }
  double least = 0;
  for (const DevicePath& path : paths) {
    for (const std::int32_t link : path.links) {
      const auto at = static_cast<std::size_t>(link);
      const double rate = node.wires[at / 2].achieved.value / users[at];
      least = least == 0 ? rate : std::min(least, rate);
    }
  }
  return {least};
}

}  // namespace stagecraft

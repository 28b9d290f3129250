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

std::vector<std::vector<std::int32_t>> ways_to_host(const NodeSpec& node) {
  const NodeGraph graph = make_node_graph(node);
  std::vector<std::vector<std::int32_t>> ways;
  for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
    if (node.devices[device].kind != DeviceKind::gpu) continue;
    ways.push_back(nearest_cpu(node, graph, device).links);
  }
  return ways;
}

HostRate host_rate(const NodeSpec& node, std::int64_t gpus) {
  const std::vector<std::vector<std::int32_t>> ways = ways_to_host(node);
  const std::size_t copying = std::min(ways.size(), static_cast<std::size_t>(std::max<std::int64_t>(gpus, 0)));
  std::vector<double> users(2 * node.wires.size(), 0);
  for (std::size_t gpu = 0; gpu < ways.size(); ++gpu) {
    if (ways[gpu].empty()) return {};
    if (gpu >= copying) continue;
    for (const std::int32_t link : ways[gpu]) ++users[static_cast<std::size_t>(link)];
  }
  HostRate least;
  const auto lower = [](BytesPerSecond& rate, double other) {
    rate.value = rate.value == 0 ? other : std::min(rate.value, other);
  };
  for (std::size_t gpu = 0; gpu < copying; ++gpu) {
    for (const std::int32_t link : ways[gpu]) {
      const auto at = static_cast<std::size_t>(link);
      const double rate = node.wires[at / 2].achieved.value;
      lower(least.alone, rate);
      lower(least.shared, rate / users[at]);
    }
  }
  return least;
}

}  // namespace stagecraft

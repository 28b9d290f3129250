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

}  // namespace stagecraft

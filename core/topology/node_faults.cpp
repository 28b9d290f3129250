#include <algorithm>

#include "topology/node_wiring.hpp"

namespace stagecraft {
namespace {

/// Place of a device among those of its kind.
std::size_t index_of(const NodeSpec& node, const std::string& name) {
  std::size_t index = 0;
  DeviceKind kind = DeviceKind::gpu;
  for (const DeviceSpec& device : node.devices) {
    if (device.name == name) kind = device.kind;
  }
  for (const DeviceSpec& device : node.devices) {
    if (device.name == name) break;
    if (device.kind == kind) ++index;
  }
  return index;
}

bool joins(const WireSpec& wire, const std::string& a, const std::string& b) {
  return (wire.from == a && wire.to == b) || (wire.from == b && wire.to == a);
}

/// All wires of a NIC that is down are.
void cut_nic(NodeSpec& node, const std::string& nic) {
  for (WireSpec& wire : node.wires) {
    if (wire.from == nic || wire.to == nic) wire.achieved = {};
  }
}

/// The first wire of the NIC is plugged in elsewhere; it stays as wide as it was.
void move_nic(NodeSpec& node, const std::string& nic, const std::string& to) {
  for (WireSpec& wire : node.wires) {
    if (wire.from != nic && wire.to != nic) continue;
    (wire.from == nic ? wire.to : wire.from) = to;
    return;
  }
}

}  // namespace

FaultyNode apply_faults(const NodeSpec& node, const std::vector<const FaultSpec*>& faults) {
  FaultyNode faulty{node, {}, {}, true, false};
  faulty.nic_left.assign(static_cast<std::size_t>(nics_per_node(node)), 1);
  faulty.gpu_speed.assign(static_cast<std::size_t>(gpus_per_node(node)), 1);
  for (const FaultSpec* fault : faults) {
    switch (fault->kind) {
      case FaultKind::wire:
        for (WireSpec& wire : faulty.node.wires) {
          if (joins(wire, fault->from, fault->to)) wire.achieved = wire.achieved * fault->left;
        }
        break;
      case FaultKind::nic:
        faulty.nic_left[index_of(node, fault->device)] *= fault->left;
        if (fault->left == 0) cut_nic(faulty.node, fault->device);
        break;
      case FaultKind::gpu:
        faulty.gpu_speed[index_of(node, fault->device)] *= fault->left;
        break;
      case FaultKind::nic_moved:
        move_nic(faulty.node, fault->device, fault->to);
        break;
      case FaultKind::gpudirect_off:
        faulty.gpudirect = false;
        break;
      case FaultKind::access_control:
        faulty.access_control = true;
        break;
      case FaultKind::leaf:
      case FaultKind::background:
        break;
    }
  }
  return faulty;
}

}  // namespace stagecraft

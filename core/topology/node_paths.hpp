#pragma once
// Paths between the devices of one node. Internal to the room.

#include <cstdint>
#include <vector>

#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// Index of a device in NodeSpec::devices.
using DeviceIndex = std::size_t;

/// Wires of a node by device; link 2w is wire w from `from` to `to`, 2w + 1 the other direction.
struct NodeGraph {
  const NodeSpec* node = nullptr;
  struct Step {
    DeviceIndex to = 0;
    std::int32_t link = 0;
  };
  std::vector<std::vector<Step>> steps;  // [device]
};

/// Throws InputError for a wire with an unknown end.
NodeGraph make_node_graph(const NodeSpec& node);

struct DevicePath {
  bool found = false;
  std::int64_t distance = 0;  // NVLink steps count 1 (11 through a GPU), PCIe steps 100, steps between sockets 10,000
  std::vector<std::int32_t> links;  // in the order passed
  bool nvlink_only = true;
};

/// Shortest paths from one device to all others; among equally short ones the wider, then the one found first in file
/// order.
std::vector<DevicePath> paths_from(const NodeGraph& graph, DeviceIndex from);

}  // namespace stagecraft

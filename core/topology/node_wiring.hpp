#pragma once
// From the devices and wires of a node to the ways between its GPUs and NICs. Internal to the room.

#include <vector>

#include "topology/topology.hpp"

namespace stagecraft {

/// A node as faults leave it.
struct FaultyNode {
  NodeSpec node;                 // a wire that is down has the achieved rate 0
  std::vector<double> nic_left;  // [nic] fraction of its rate
  std::vector<double> gpu_speed;
  bool gpudirect = true;
  bool access_control = false;
};

FaultyNode apply_faults(const NodeSpec& node, const std::vector<const FaultSpec*>& faults);

/// A node of this kind. `rails`: Topology::nics_per_node. Throws InputError as build_topology does.
NodeWiring make_wiring(const ClusterSpec& cluster, std::size_t kind, const FaultyNode& faulty, std::int32_t rails);

}  // namespace stagecraft

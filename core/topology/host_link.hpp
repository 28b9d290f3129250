#pragma once
// The way from a GPU to the memory of its host.

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// [GPU of the node] -> the links from it to its nearest CPU, in the order passed, numbered as in Topology::node_links;
/// link ^ 1 is the way back. Empty for a GPU that has no way.
std::vector<std::vector<std::int32_t>> ways_to_host(const NodeSpec& node);

/// The rate per direction at which each of the first `gpus` GPUs of a node copies to or from its nearest CPU: while no
/// other does, and while all of them do, each of its PCIe wires shared by the GPUs whose way passes it. Of different
/// GPUs the least. 0 if one of the node's GPUs has no way to a CPU.
struct HostRate {
  BytesPerSecond alone, shared;
};
HostRate host_rate(const NodeSpec& node, std::int64_t gpus);

}  // namespace stagecraft

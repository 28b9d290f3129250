#pragma once
// The way from a GPU to the memory of its host.

#include "base/units.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// The rate per direction that each GPU of a node has to the nearest CPU while all of them copy at once: the least of
/// its PCIe wires, each shared by the GPUs whose way passes it. 0 if a GPU has no way to a CPU.
BytesPerSecond host_rate(const NodeSpec& node);

}  // namespace stagecraft

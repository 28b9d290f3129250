#pragma once
// What is wrong, or odd, with the wiring of a cluster: all of it at once.

#include "base/findings.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// Errors: a GPU that cannot reach another one, a NIC when there are several nodes, or host memory that copies are
/// staged through; a device without wires; a rate above what it is labelled with, or labelled above what the GPU's
/// generation has. Warnings: a NIC faster than its slot, a NIC on another socket than its GPU, NICs that GPUs share
/// unevenly, a GPU with fewer links than its siblings. Wires are full duplex, so a link of one direction only cannot be
/// written down.
Findings check_topology(const ClusterSpec& cluster);

}  // namespace stagecraft

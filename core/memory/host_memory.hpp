#pragma once
// What offload puts on the hosts and their drives, checked against what a node has.

#include "memory/footprint.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// Of the fullest node, all its ranks together.
struct HostMemory {
  Bytes host, nvme;
  Bytes host_limit, nvme_limit;
  bool fits() const { return host <= host_limit && nvme <= nvme_limit; }
};

/// States of every rank of a node, and the activations of the micro-batches that are alive at once. The operating
/// system, data loading and staging buffers are not counted.
HostMemory host_memory(const Plan& plan, const Schedule& schedule, const NodeSpec& node);

/// The same with the limits of the kind of node that has the least.
HostMemory host_memory(const Plan& plan, const Schedule& schedule, const ClusterSpec& cluster);

}  // namespace stagecraft

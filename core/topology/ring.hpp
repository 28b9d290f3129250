#pragma once
// The edges of the rings that NCCL lays over a communicator.

#include <cstdint>
#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace stagecraft {

/// `weight` units pass from one GPU to another for every unit of the ring.
struct RingEdge {
  GpuId from, to;
  std::int64_t weight = 1;
};

struct Ring {
  std::vector<RingEdge> edges;
  std::int64_t units = 1;  // units that make up what one rank sends
};

/// A number that all counts divide, unless they differ so much that it would be large: then the largest count, and
/// shares are rounded up.
std::int64_t common_units(std::span<const std::int64_t> counts);
std::int64_t share_of_units(std::int64_t units, std::int64_t parts);

/// Members ascending, at least 2. On one node every member sends all to the next. Over several nodes each node's
/// members take turns as the way out: of its share a member sends (q-1)/q to the next member of its node and 1/q to its
/// counterpart in the next node, where q is the number of members in the node.
Ring make_ring(const Topology& topology, std::span<const GpuId> members);

}  // namespace stagecraft

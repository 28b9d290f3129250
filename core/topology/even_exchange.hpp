#pragma once
// What GPUs that all send alike to each other put on the trunks between switches.

#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace stagecraft {

struct TrunkUse {
  LinkId trunk;
  double pairs = 0;  // of GPUs, ordered, whose traffic passes it
};

/// Of all ordered pairs of `members` (ascending) on different nodes. Where a hash chooses a cable for each pair, the
/// pairs of more than 64 members are taken to use all cables of a leaf evenly. A trunk may be named several times.
std::vector<TrunkUse> exchanged_over_trunks(const Topology& topology, std::span<const GpuId> members);

}  // namespace stagecraft

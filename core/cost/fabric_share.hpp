#pragma once
// What the trunks between switches leave to a collective: a leaf that is oversubscribed, the cable that a hash chose, a
// group of a dragonfly. NICs and the inside of a node are apart from this (group_shape.cpp).

#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace stagecraft {

/// Seconds that the busiest trunk needs per byte; 0 where no trunk can be what limits.
struct FabricShare {
  double ring = 0;        // per byte that passes from each rank to the next one of its ring
  double all_to_all = 0;  // per byte that each rank sends to ranks of other nodes, evenly to all of them

  friend bool operator==(const FabricShare&, const FabricShare&) = default;
};

/// Whether traffic that fits through the NICs may not fit through the trunks behind them.
bool fabric_limits(const Topology& topology);

/// Of groups that all run the same collective at the same time. Each group's members are ascending. Rings are NCCL's
/// (topology/ring.hpp) over the trunks of their routes; all-to-alls, if asked for, spread as
/// topology/even_exchange.hpp says.
FabricShare fabric_share(const Topology& topology, std::span<const std::vector<GpuId>> groups, bool all_to_all = true);

}  // namespace stagecraft

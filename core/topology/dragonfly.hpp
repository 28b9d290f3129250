#pragma once
// The dragonfly's links by arithmetic. Internal to the room.

#include <map>
#include <vector>

#include "topology/even_exchange.hpp"
#include "topology/fabric.hpp"

namespace stagecraft {

std::int64_t dragonfly_groups(const Topology& topology);
std::int64_t dragonfly_link_count(const Topology& topology);
FabricPath dragonfly_path(const Topology& topology, std::int64_t from_switch, std::int64_t to_switch);
Link dragonfly_link(const Topology& topology, std::int64_t offset);
/// What all pairs of ranks on different switches put on cables; `on_switch` counts ranks.
std::vector<TrunkUse> exchanged_over_dragonfly(const Topology& topology,
                                               const std::map<std::int64_t, double>& on_switch);

}  // namespace stagecraft

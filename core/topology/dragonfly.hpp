#pragma once
// The dragonfly's links by arithmetic. Internal to the room.

#include "topology/fabric.hpp"

namespace stagecraft {

std::int64_t dragonfly_groups(const Topology& topology);
std::int64_t dragonfly_link_count(const Topology& topology);
FabricPath dragonfly_path(const Topology& topology, std::int64_t from_switch, std::int64_t to_switch);
Link dragonfly_link(const Topology& topology, std::int64_t offset);

}  // namespace stagecraft

#pragma once
// Links between nodes by arithmetic: the trunks of leaf switches. Internal to the room.
// A trunk stands for all cables between one leaf and the spine: traffic spreads evenly over them (adaptive routing).

#include <cstdint>

#include "topology/topology.hpp"

namespace stagecraft {

enum class TrunkDirection : std::uint8_t { up, down };

std::int64_t leaf_group_of(const Topology& topology, NodeId node);
/// Leaf switches of one group: one per NIC of a node on a rail-optimised fabric, else one.
std::int64_t leaves_per_group(const Topology& topology);
std::int64_t trunk_count(const Topology& topology);
std::int64_t first_trunk(const Topology& topology);
LinkId trunk(const Topology& topology, std::int64_t leaf_group, std::int32_t rail, TrunkDirection direction);
/// A trunk's link: nodes_per_leaf_group NICs per leaf divided by the oversubscription.
Link trunk_link(const Topology& topology, LinkId id);
BytesPerSecond trunk_rate(const Topology& topology, BytesPerSecond nic_rate);

}  // namespace stagecraft

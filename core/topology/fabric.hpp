#pragma once
// Links between nodes by arithmetic. Internal to the room.
//
// Adaptive routing spreads traffic evenly over cables, so a trunk stands for all of them: of a leaf to the spine, of a
// dragonfly's switch to its group, of a group to the others (what detours cost is not counted). With fixed routing
// every cable is a link: on spines the hash of a flow's NICs chooses it, on a dragonfly it is the direct one (Kim et
// al., Technology-driven, highly-scalable dragonfly topology, ISCA 2008: minimal routing).

#include <array>
#include <cstdint>

#include "topology/topology.hpp"

namespace stagecraft {

struct FabricHop {
  LinkId link;
  BytesPerSecond rate;
  Seconds latency;  // of entering the next switch
};

struct FabricPath {
  std::array<FabricHop, 4> hops;
  std::size_t count = 0;
};

struct NicPort {
  NodeId node;
  std::int32_t nic = 0;
};

std::int64_t leaf_group_of(const Topology& topology, NodeId node);
/// Leaf switches of one group: one per NIC of a node on a rail-optimised fabric, else one.
std::int64_t leaves_per_group(const Topology& topology);
std::int64_t leaf_group_count(const Topology& topology);
/// Cables of a leaf to the spine: as many as its NICs divided by the oversubscription, rounded.
std::int64_t cables_per_leaf(const Topology& topology);
std::int64_t trunk_count(const Topology& topology);
std::int64_t first_trunk(const Topology& topology);
Link trunk_link(const Topology& topology, LinkId id);

/// The links between the switch of one NIC and that of another; none if it is the same.
FabricPath fabric_path(const Topology& topology, NicPort from, NicPort to);

}  // namespace stagecraft

#pragma once
// What a fault does to the links, in words.

#include <string>

#include "topology/topology.hpp"

namespace stagecraft {

/// "node3/nic2/up carries 12 GB/s instead of 24 GB/s"; "" for a fault that changes no link (a slow GPU).
std::string fault_effect(const Topology& topology, const FaultSpec& fault);

}  // namespace stagecraft

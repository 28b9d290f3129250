#pragma once
// A cluster as SVG: the wiring inside a node, and the fabric that joins the nodes, with the rate of every wire.

#include <string>

#include "topology/topology.hpp"

namespace stagecraft {

/// Rows of alike parts are cut short: of many sockets, nodes and leaf groups the first ones and the last are drawn.
std::string topology_svg(const Topology& topology);

}  // namespace stagecraft

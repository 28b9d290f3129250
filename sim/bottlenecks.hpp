#pragma once
// From links that classes of traffic cross to the few that can slow more than one of them. Knows no SimGrid.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/flow_network.hpp"
#include "sim/traffic.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// A link, or several that the same classes cross equally often (then the slowest of them).
struct Bottleneck {
  LinkId link;
  double rate = 0;            // crossings per second that it carries
  double bytes_per_unit = 1;  // of the link, per crossing: common factors of all crossings are divided out
};

struct ClassRoute {
  double own_limit = 0;  // units/s that links which nobody else uses leave to the class; infinity if none does
  std::vector<Crossing> crossings;  // of bottlenecks, by their index
};

struct Bottlenecks {
  std::vector<Bottleneck> links;
  std::vector<ClassRoute> routes;  // per class
};

/// `idle_rates[k]`: units/s of class k on an idle network (0: it never sends).
/// A link of a node carries at least what calibration says one communicator alone achieves on it (less what faults
/// take); a cable between switches carries its rate. Links that all classes together
/// cannot fill are left out.
Bottlenecks find_bottlenecks(std::span<const ClassTraffic> traffic, std::span<const double> idle_rates,
                             const Topology& topology);

}  // namespace stagecraft

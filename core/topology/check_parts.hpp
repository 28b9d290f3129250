#pragma once
// The parts of check_topology. Internal to the room.

#include <string>

#include "base/findings.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

void check_reach(const ClusterSpec& cluster, Findings& findings);
void check_rates(const ClusterSpec& cluster, Findings& findings);
/// Precondition: check_reach found nothing.
void check_nics(const ClusterSpec& cluster, Findings& findings);

std::string name_of(const WireSpec& wire);  // "gpu0-nvswitch"
/// "gpu0, gpu1, gpu2 and 5 more".
std::string list_of(const std::vector<std::string>& names);

}  // namespace stagecraft

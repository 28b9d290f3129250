#pragma once

#include "base/findings.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// Errors for wires and NICs, of any kind of node, that achieve more than they are labelled with: label and achieved
/// rate are two fields, and who changes one may forget the other. Pointers start at the cluster.
void check_achieved_rates(const ClusterSpec& cluster, Findings& findings);

}  // namespace stagecraft

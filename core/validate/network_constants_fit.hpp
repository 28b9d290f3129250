#pragma once
// The constants of collectives across nodes and of sends, from measured times.

#include <string>
#include <vector>

#include "validate/network_times.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

struct NetworkConstant {
  std::string name;  // of `constants`: "nic_ring_efficiency", ...
  double before = 0, after = 0;
  Interval interval;          // 90 %
  bool determined = true;     // false: these times say nothing of it, or leave it open by more than a factor of 3
  double relative_error = 0;  // half width of the interval; of rates, of single times where that is larger
};

/// Collectives across nodes: the part of the NICs' rate that rings reach, latency per node of a ring, per level of a
/// tree, and those of the low-latency protocols. What stays open keeps its value while the others are fitted.
/// Precondition: every time spans several nodes and is no send.
std::vector<NetworkConstant> fit_across_nodes(const std::vector<TimedCollective>& times, const NetworkPlaces& places,
                                              const Calibration& calibration);

/// Sends: rate and fixed time. Precondition: all times are of sends, and their ways all pass host memory or none does.
std::vector<NetworkConstant> fit_sends(const std::vector<TimedCollective>& times, const NetworkPlaces& places,
                                       const Calibration& calibration);

}  // namespace stagecraft

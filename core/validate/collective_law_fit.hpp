#pragma once
// The law of a collective inside a node (CollectiveProfile) from measured times.

#include <vector>

#include "validate/statistics.hpp"
#include "validate/timed_collective.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

struct CollectiveLawFit {
  CollectiveProfile law;  // its constants with the half width of their 90 % interval as relative error
  bool small_sizes =
      false;  // small sizes follow a law of their own; else its constants are set so that it never counts
  /// In the order latency_us, sqrt_us_per_byte, bus_GBps, low_latency_us, low_latency_us_per_MB.
  std::vector<Interval> intervals;
};

/// Precondition: all of one collective inside one node, on 2 GPUs at least. Least squares of relative errors; the size
/// at which the protocol for small sizes ends is the one that leaves the least. The half width of bus_GBps is that of
/// single times where that is larger: the 90th percentile of their errors. Throws InputError for fewer than six sizes,
/// or for times that no such law has.
CollectiveLawFit fit_collective_law(const std::vector<TimedCollective>& times, LinkKind links);

}  // namespace stagecraft

#pragma once
// What the laws say of collectives as nccl-tests times them: on the first GPUs of each of some nodes.

#include <map>
#include <utility>
#include <vector>

#include "topology/topology.hpp"
#include "validate/timed_collective.hpp"

namespace stagecraft {

/// Whom the communicators of some measured times connect, looked up once.
struct NetworkPlaces {
  std::map<std::pair<std::int32_t, std::int32_t>, GroupShape> shapes;  // by (nodes, GPUs per node)
  /// Of sends to the next rank, all at once: the way that takes longest.
  std::map<std::pair<std::int32_t, std::int32_t>, Route> ways;
};

/// Throws InputError naming the log if the cluster has fewer nodes, or fewer GPUs per node, than it.
NetworkPlaces places_of(const std::vector<TimedCollective>& times, const Topology& topology);

/// Seconds. Precondition: time.op has a law (not NcclOp::reduce), and the place is known.
double predicted_time(const TimedCollective& time, const NetworkPlaces& places, const Calibration& calibration);

}  // namespace stagecraft

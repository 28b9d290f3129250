#pragma once
// Plays a playbook along the dependency graph: own counters, operations begun when they are ready, flows on SimGrid.

#include <cstdint>
#include <vector>

#include "schedule/graph.hpp"
#include "sim/playbook.hpp"

namespace stagecraft {

/// Begin and end of every operation: [(step * replicas + replica) * nodes + node], seconds.
struct PlayedTimes {
  std::vector<double> begin_s, end_s;
};

/// When flows lived and over which path, in the order in which they ended.
struct PlayedFlow {
  double begin_s = 0, end_s = 0;
  std::uint64_t units = 0;
  std::int32_t path = -1;
};

/// `flows`: filled if not null. Throws std::logic_error if operations wait for each other (a schedule that was not
/// checked).
PlayedTimes play(const Playbook& book, const Graph& graph, std::int32_t steps,
                 const std::vector<std::string>& link_names, std::vector<PlayedFlow>* flows);

}  // namespace stagecraft

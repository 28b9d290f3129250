#pragma once
// Plays a playbook along the dependency graph: own counters, operations begun when they are ready, flows on SimGrid.

#include <cstdint>
#include <vector>

#include "schedule/graph.hpp"
#include "sim/flow_record.hpp"
#include "sim/playbook.hpp"

namespace stagecraft {

/// Begin and end of every operation: [(step * replicas + replica) * nodes + node], seconds.
struct PlayedTimes {
  std::vector<double> begin_s, end_s;
};

/// `flows`: filled if not null. Throws std::logic_error if operations wait for each other (a schedule that was not
/// checked).
PlayedTimes play(const Playbook& book, const Graph& graph, std::int32_t steps,
                 const std::vector<std::string>& link_names, std::vector<FlowStretch>* flows);

}  // namespace stagecraft

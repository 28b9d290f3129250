#pragma once
// The least that plays a playbook on SimGrid: what the speed of the player is held against.

#include "schedule/graph.hpp"
#include "sim/playbook.hpp"

namespace stagecraft::bench {

struct BareRun {
  double seconds = 0;  // wall time
  double end_s = 0;    // of the last operation, simulated
};

/// Every operation's time is a timer of SimGrid, every flow a communication of SimGrid, begun when the graph's counters
/// say so. In a process of its own, since SimGrid keeps state. Precondition: no simulation has run in this process.
BareRun play_bare(const Playbook& book, const Graph& graph);

}  // namespace stagecraft::bench

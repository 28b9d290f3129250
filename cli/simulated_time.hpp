#pragma once

#include <optional>

#include "schedule/graph.hpp"
#include "validate/rehearsed.hpp"

namespace stagecraft::cli {

/// Step time of the run on SimGrid, in a process of its own: SimGrid allows one engine per process. Nothing if the
/// process failed or took longer than a minute. Precondition: the run has costs.
std::optional<double> simulated_step_time(const Rehearsed& run, const Graph& graph);

/// Whether the program was built with SimGrid.
bool can_simulate();

}  // namespace stagecraft::cli

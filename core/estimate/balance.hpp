#pragma once
// Stages of equal time: the partitions that need the cost model. They become an explicit list before anything is
// planned, so that all that follows sees how many blocks each stage has.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cost/calibration.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// What one layer costs the stage that holds it.
struct LayerLoad {
  double seconds = 0;      // forward and backward of one micro-batch
  double resident = 0;     // bytes, all step long
  double activations = 0;  // bytes per micro-batch in flight
};

/// What one stage can hold: `resident + in_flight * activations` of its layers at most `bytes`.
struct StageRoom {
  double in_flight = 0;  // micro-batches
  double bytes = 0;
  double pace = 1;  // what the layers take on its GPUs, over their LayerLoad::seconds
};

/// Ends of the stages that cut `layers` into rooms.size() runs, none empty, with the least time of the slowest stage
/// and, among those, the least sum of squares; dynamic programming, O(stages layers^2). Nothing if no cut fits.
std::optional<std::vector<std::int32_t>> cut_by_time(std::span<const LayerLoad> layers,
                                                     std::span<const StageRoom> rooms);

/// Replaces the partition "time" or "time_and_memory" by the list it comes to and notes it among the defaults; other
/// rules stay. Precondition: !has_errors(check_feasible(scenario)). Throws a Refusal if no partition fits the GPU's
/// memory, or if the schedule cannot run.
void balance_partition(Scenario& scenario, const Topology& topology, const Calibration& calibration);

}  // namespace stagecraft

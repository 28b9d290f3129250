#pragma once
// What a training run pays for starting with small batches: fewer micro-batches per step, a larger share of bubble.

#include <cstdint>

#include "base/units.hpp"

namespace stagecraft {

struct CostModel;
struct Scenario;
struct Topology;

struct RampUp {
  std::int64_t sizes = 0;  // of the batch, before it is whole; 0: there is no ramp
  double steps = 0;        // until it is whole
  double time_s = 0;       // that they take
  double lost_s = 0;       // of it, beyond what the same samples take in whole batches
};

/// Each size below the whole batch lasts for samples / sizes sequences, in whole steps (Megatron-LM,
/// core/num_microbatches_calculator.py). Step times are the closed form's, scaled so that the whole batch takes
/// `step_s`; of more than 33 sizes, 33 are worked out and the others lie on the line between them. Precondition:
/// !has_errors(check_feasible(scenario)), and no partition by time. Throws a Refusal if the schedule cannot run with
/// one of the sizes.
RampUp ramp_up(const Scenario& scenario, const CostModel& costs, const Topology& topology, Seconds step);

}  // namespace stagecraft

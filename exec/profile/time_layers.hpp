#pragma once
// Seconds of the layers of a scenario, each kind run alone, by all ranks at the same time: a core whose neighbours work
// too is slower than one that has the memory to itself.

#include "exec/launch/job.hpp"
#include "exec/profile/measured_segment.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

/// What the ranks of a measurement share. `tensor` are those that share a layer, `self` is this rank alone.
struct Timing {
  const Job& job;
  const ExecuteOptions& options;
  Transport& transport;
  const Group &world, &tensor, &self;
  std::int32_t repetitions;
};

/// Embedding, blocks, head with loss are run as stages of their own: forward, backward, and backward in two halves,
/// with the exchanges of the tensor group taken out. A stage's time is divided over the segments of its body in
/// proportion to a roofline of 5 FLOP per byte, so that their sum is what was measured. Where the schedule splits no
/// backward, the halves together take the time of the whole one.
void time_layers(const Timing& timing, Profile& profile);

/// Seconds of the optimizer: zeroing, norm, update by parameter; and what the ranks' exchange of the norm takes.
void time_optimizer(const Timing& timing, Profile& profile);

}  // namespace stagecraft

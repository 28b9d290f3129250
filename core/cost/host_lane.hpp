#pragma once
// The host as a lane of its own: it launches kernels one after the other and runs ahead of the GPU until something
// makes it wait.

#include <span>
#include <vector>

#include "spec/run_spec.hpp"

namespace stagecraft {

/// A segment as both lanes see it, in seconds.
struct LaneStep {
  double gpu_s = 0;           // of its kernels, back to back
  double host_s = 0;          // of launching them
  bool waits = false;         // the host waits for the GPU first; gpu_s is then how long it takes to go on
  std::int32_t launches = 1;  // that host_s is shared by
};

/// How long the GPU has nothing to do before or within each step of a part that is repeated over and over, in its
/// steady state. Behind a wait nothing is queued: the next kernel starts once it has been launched, and the GPU idles
/// whenever it has finished all that the host has launched. Empty unless a step waits.
std::vector<double> gaps_between_launches(std::span<const LaneStep> part);

/// Launches that CUDA queues before the host blocks.
inline constexpr double launch_queue = 1024;

/// Expected pauses per step of Python's garbage collector that a step waits for, one behind the other. All ranks at
/// once pause every `collection_every` steps. By itself each rank collects whenever its allocations ask for it: pauses
/// of the ranks of one replica add up, since each holds up the others, and a step waits for the replica that has most,
/// the expected maximum of `replicas` Poisson numbers of mean `ranks / collection_every`.
double expected_collections(const HostSpec& host, double replicas, double ranks);

}  // namespace stagecraft

#pragma once
// A predicted trace as it would be if its ranks did not have a device each.

#include "trace/trace.hpp"

namespace stagecraft {

/// The whole operations of `trace`, played again with rank r on device r modulo `devices`. Computations that run on one
/// device at the same time share it evenly (a core's time slices, a GPU's streams); transfers take the time they took.
/// Order within a lane and dependencies are kept; counters keep their times. Every operation lasts at least as long as
/// before. Precondition: devices >= 1; spans ordered by (rank, lane, begin).
Trace share_devices(const Trace& trace, std::int32_t devices);

}  // namespace stagecraft

#pragma once
// Seconds of messages and collectives between ranks.

#include "exec/profile/time_layers.hpp"

namespace stagecraft {

/// Called by all ranks: "send" between ranks 0 and 1 (half a round trip) and the collectives of the tensor group, at
/// the size that the scenario's messages have and at a sixteenth of it.
void time_transfers(const Timing& timing, Profile& profile);

}  // namespace stagecraft

#pragma once
// Seconds of messages and collectives between ranks.

#include "exec/profile/measured_segment.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

/// Called by all ranks. `bytes` is what a scenario's messages and collectives have; a sixteenth of it gives the
/// latency. "send" between ranks 0 and 1 (half a round trip), and the collectives of `tensor` and `data` if they have
/// members.
void time_transfers(Transport& transport, const Group& world, const Group& group, double message_bytes,
                    double group_bytes, at::Device device, std::int32_t repetitions, Profile& profile);

}  // namespace stagecraft

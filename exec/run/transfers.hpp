#pragma once
// Splits the time of a message between its ends: a transfer begins when both have posted it and its bytes move; what a
// receive spent before that was waiting.

#include <vector>

#include "exec/run/rank_executor.hpp"

namespace stagecraft {

/// Whether a send is over, for its rank's compute lane, once it has been handed to the transport. On CPU the receiver
/// copies the message when it looks for it, which may be a whole operation later, and no lane of the sender moves
/// bytes meanwhile. On a GPU the sender's stream carries the message, so its compute lane waits.
bool is_handed_over(const Op& op, at::Device device);

/// For every send and its receive: both begin when the later of the two was posted and the receiver took the message,
/// and end when the receive saw its end; a send that is handed over keeps its own times. `ops` by global rank, on one
/// clock.
void split_transfers(const JobInputs& inputs, std::vector<std::vector<RecordedOp>>& ops);

}  // namespace stagecraft

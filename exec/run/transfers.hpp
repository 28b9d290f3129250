#pragma once
// Splits the time of a message between its ends: a transfer begins when both have posted it and its bytes move; what a
// receive spent before that was waiting.

#include <vector>

#include "exec/run/rank_executor.hpp"

namespace stagecraft {

/// For every send and its receive: both begin when the later of the two was posted and the receiver took the message,
/// and end when the receive saw its end. `ops` by global rank, on one clock.
void split_transfers(const JobInputs& inputs, std::vector<std::vector<RecordedOp>>& ops);

}  // namespace stagecraft

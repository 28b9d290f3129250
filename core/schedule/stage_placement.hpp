#pragma once
// Which rank holds which stage, read off programs that do not say it (PyTorch's CSV).

#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

/// Fills `placement`, `shape` and the replica of every operation from the programs alone. A stage stands on one rank;
/// or all stages stand on two, s and p-1-s, as the two replicas of a bidirectional schedule do. Returns what is wrong,
/// or "".
std::string infer_placement(Schedule& schedule);

}  // namespace stagecraft

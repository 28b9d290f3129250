#pragma once
// Which forward and backward passes of a rank run together, where a framework merges neighbours so that one's exchanges
// of experts hide behind the other's kernels (Megatron-LM, core/pipeline_parallel/combined_1f1b.py).

#include <vector>

#include "schedule/op.hpp"

namespace stagecraft {

/// Two passes in a row run together if one is forward and one backward and they are not of one stage and micro-batch,
/// each with one neighbour at most, the earlier one first. All others get the body that `alone` has for theirs, if any.
/// `alone` is indexed by BodyId.
void give_alone_bodies(std::vector<Op>& program, const std::vector<BodyId>& alone);

}  // namespace stagecraft

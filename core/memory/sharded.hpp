#pragma once
// What ZeRO 2 and 3 hold beside the shards while a pass runs: gathered parameters, whole gradients of the unit in use,
// and the array that a reduction reads.

#include "base/units.hpp"
#include "memory/parameters.hpp"

namespace stagecraft {

struct ShardedWorkingSet {
  Bytes standing;       // all step long: embedding, final norm and head, which stay gathered between the passes, and
                        // every block if nothing is dropped after the forward pass
  Bytes forward;        // beside it while a block runs forward: this block's parameters and those gathered ahead
  Bytes backward;       // the same while it runs backward, its gradient and the last one's reduction
  Bytes head_gradient;  // from the head's backward to the end of the pass
  Bytes ends;           // at the end of the pass: gradients of embedding and head, and their reduction
  Bytes unshard;        // that UNSHARD takes and RESHARD gives back: a whole stage
};

/// What the layers of a stage hold, as far as sharding is concerned.
struct StageCounts {
  ParameterCount embedding, blocks, head;
  ParameterCount largest_block;
};

/// FSDP2's and DeepSpeed's order of events for unit block (torch/distributed/fsdp/_fully_shard): parameters of
/// 1 + prefetch units in the compute dtype; in the backward pass the unit's gradient in the compute dtype and the
/// previous unit's in the dtype of the reduction. Nothing for ZeRO 0 and 1.
ShardedWorkingSet sharded_working_set(const Plan& plan, const StageCounts& counts);

}  // namespace stagecraft

#pragma once
// What sharding adds because shards are equal: rows that a tensor lacks, elements up to the alignment of a flat buffer.

#include "plan/plan.hpp"

namespace stagecraft {

/// Bytes of states on the fullest rank beyond its even share, the fullest pipeline rank's. FSDP gives each rank
/// ceil(rows / ranks) rows of every tensor (torch/distributed/fsdp/_fully_shard/_fsdp_param.py); Megatron-LM fills its
/// gradient buffer up to a multiple of 128 elements per rank (core/distributed/param_and_grad_buffer.py), DeepSpeed to
/// 2 (runtime/zero/stage_1_and_2.py). 0 without sharding.
Bytes padding_of_shards(const Plan& plan);

}  // namespace stagecraft

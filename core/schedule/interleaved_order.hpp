#pragma once
// The order in which interleaved schedules walk through micro-batches and chunks.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

struct ChunkPass {
  std::int32_t chunk = 0, micro_batch = 0;
};

/// m*v entries: micro-batches in groups of `group_size` (the last may be shorter); per group chunk 0..v-1; per chunk
/// the micro-batches of the group. Backwards use it with the chunks reversed. (Megatron-LM, get_schedule_table.)
std::vector<ChunkPass> interleaved_order(const PipelineShape& shape, std::int32_t group_size);

}  // namespace stagecraft

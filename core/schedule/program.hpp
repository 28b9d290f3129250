#pragma once
// What generators write with.

#include "schedule/schedule.hpp"

namespace stagecraft {

inline Op compute_op(OpKind kind, std::int32_t stage, std::int32_t micro_batch, std::uint8_t replica = 0) {
  Op op;
  op.kind = kind;
  op.replica = replica;
  op.stage = Stage(stage);
  op.micro_batch = MicroBatch(micro_batch);
  return op;
}

/// A schedule with its name, shape and stage map, and one empty program per rank with room for what the generator will
/// write.
inline Schedule empty_schedule(const char* name, const PipelineShape& shape, std::vector<StageMap> placement,
                               std::size_t operations_per_rank) {
  Schedule schedule;
  schedule.name = name;
  schedule.shape = shape;
  schedule.placement = std::move(placement);
  schedule.programs.resize(static_cast<std::size_t>(shape.ranks));
  for (auto& program : schedule.programs) program.reserve(operations_per_rank);
  return schedule;
}

/// m * v, the passes of one kind that a rank runs.
inline std::size_t passes_per_rank(const PipelineShape& shape) {
  return static_cast<std::size_t>(shape.micro_batches) * static_cast<std::size_t>(shape.chunks);
}

}  // namespace stagecraft

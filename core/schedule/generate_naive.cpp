#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_naive(const PipelineShape& shape) {
  Schedule schedule = empty_schedule("naive", shape, {loop_map(shape.ranks, 1)}, 2 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    for (std::int32_t i = 0; i < shape.micro_batches; ++i) {
      program.push_back(compute_op(OpKind::forward, r, i));
      program.push_back(compute_op(OpKind::backward, r, i));
    }
  }
  return schedule;
}

}  // namespace stagecraft

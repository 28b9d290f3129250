#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_gpipe(const PipelineShape& shape, BackwardOrder order) {
  const bool ascending = order == BackwardOrder::ascending;
  Schedule schedule = empty_schedule(ascending ? "gpipe" : "gpipe-descending", shape, {loop_map(shape.ranks, 1)},
                                     2 * passes_per_rank(shape));
  const std::int32_t m = shape.micro_batches;
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    for (std::int32_t i = 0; i < m; ++i) program.push_back(compute_op(OpKind::forward, r, i));
    for (std::int32_t i = 0; i < m; ++i) program.push_back(compute_op(OpKind::backward, r, ascending ? i : m - 1 - i));
  }
  return schedule;
}

}  // namespace stagecraft

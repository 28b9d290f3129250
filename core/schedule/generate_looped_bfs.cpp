#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_looped_bfs(const PipelineShape& shape, BackwardOrder order) {
  const bool ascending = order == BackwardOrder::ascending;
  const std::int32_t p = shape.ranks;
  const std::int32_t m = shape.micro_batches;
  Schedule schedule = empty_schedule(ascending ? "looped-bfs-ascending" : "looped-bfs", shape,
                                     {loop_map(p, shape.chunks)}, 2 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < p; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    for (std::int32_t chunk = 0; chunk < shape.chunks; ++chunk) {
      for (std::int32_t i = 0; i < m; ++i) program.push_back(compute_op(OpKind::forward, chunk * p + r, i));
    }
    for (std::int32_t chunk = shape.chunks - 1; chunk >= 0; --chunk) {
      for (std::int32_t i = 0; i < m; ++i) {
        program.push_back(compute_op(OpKind::backward, chunk * p + r, ascending ? i : m - 1 - i));
      }
    }
  }
  return schedule;
}

}  // namespace stagecraft

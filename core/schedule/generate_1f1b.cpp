#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/one_forward_one_backward.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule one_forward_one_backward(const char* name, const PipelineShape& shape,
                                  const std::function<std::int32_t(std::int32_t ranks, std::int32_t rank)>& warm_up) {
  Schedule schedule = empty_schedule(name, shape, {loop_map(shape.ranks, 1)}, 2 * passes_per_rank(shape));
  const std::int32_t m = shape.micro_batches;
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    const std::int32_t ahead = std::min(m, warm_up(shape.ranks, r));
    for (std::int32_t i = 0; i < ahead; ++i) program.push_back(compute_op(OpKind::forward, r, i));
    for (std::int32_t i = 0; i < m; ++i) {
      program.push_back(compute_op(OpKind::backward, r, i));
      if (i < m - ahead) program.push_back(compute_op(OpKind::forward, r, ahead + i));
    }
  }
  return schedule;
}

Schedule generate_1f1b(const PipelineShape& shape, std::int32_t run_ahead) {
  return one_forward_one_backward(
      "1f1b", shape, [run_ahead](std::int32_t p, std::int32_t r) { return r == p - 1 ? 1 : p - r + run_ahead; });
}

}  // namespace stagecraft

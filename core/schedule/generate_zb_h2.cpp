#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_zb_h2(const PipelineShape& shape) {
  const std::int32_t m = shape.micro_batches;
  Schedule schedule = empty_schedule("zb-h2", shape, {loop_map(shape.ranks, 1)}, 3 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    const std::int32_t warm_up = 2 * (shape.ranks - r) - 1;
    std::int32_t weight_grads = 0;
    const auto weight_grad = [&] { program.push_back(compute_op(OpKind::weight_grad, r, weight_grads++)); };
    for (std::int32_t i = 0; i < warm_up; ++i) program.push_back(compute_op(OpKind::forward, r, i));
    for (std::int32_t i = 0; i < m; ++i) {
      program.push_back(compute_op(OpKind::input_grad, r, i));
      if (i >= 2 * r) weight_grad();
      if (i < m - warm_up) program.push_back(compute_op(OpKind::forward, r, warm_up + i));
    }
    while (weight_grads < m) weight_grad();
  }
  return schedule;
}

}  // namespace stagecraft

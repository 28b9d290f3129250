#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/interleaved_order.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_interleaved_zb(const PipelineShape& shape, std::int32_t group_size) {
  const std::int32_t p = shape.ranks;
  const std::int32_t v = shape.chunks;
  const auto order = interleaved_order(shape, group_size);
  const std::size_t passes = order.size();
  Schedule schedule = empty_schedule("interleaved-zb", shape, {loop_map(p, v)}, 3 * passes);
  for (std::int32_t r = 0; r < p; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    const auto pass = [&](OpKind kind, std::size_t k) {
      const std::int32_t chunk = kind == OpKind::forward ? order[k].chunk : v - 1 - order[k].chunk;
      program.push_back(compute_op(kind, chunk * p + r, order[k].micro_batch));
    };
    const auto ahead =
        static_cast<std::size_t>(p - 1 - r) + static_cast<std::size_t>(v - 1) * static_cast<std::size_t>(group_size);
    const std::size_t warm_up = std::min(passes, ahead);
    std::size_t weight_grads = 0;
    for (std::size_t k = 0; k < warm_up; ++k) pass(OpKind::forward, k);
    for (std::size_t k = 0; k < passes; ++k) {
      if (k < passes - warm_up) pass(OpKind::forward, warm_up + k);
      pass(OpKind::input_grad, k);
      if (k >= static_cast<std::size_t>(r) || k >= passes - warm_up) pass(OpKind::weight_grad, weight_grads++);
    }
    while (weight_grads < passes) pass(OpKind::weight_grad, weight_grads++);
  }
  return schedule;
}

}  // namespace stagecraft

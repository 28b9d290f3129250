#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/interleaved_order.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_interleaved_1f1b(const PipelineShape& shape, std::int32_t group_size) {
  const std::int32_t p = shape.ranks;
  const std::int32_t v = shape.chunks;
  const auto order = interleaved_order(shape, group_size);
  const std::size_t passes = order.size();
  Schedule schedule = empty_schedule("interleaved-1f1b", shape, {loop_map(p, v)}, 2 * passes);
  for (std::int32_t r = 0; r < p; ++r) {
    auto& program = schedule.programs[static_cast<std::size_t>(r)];
    const auto forward = [&](std::size_t k) {
      program.push_back(compute_op(OpKind::forward, order[k].chunk * p + r, order[k].micro_batch));
    };
    const auto backward = [&](std::size_t k) {
      program.push_back(compute_op(OpKind::backward, (v - 1 - order[k].chunk) * p + r, order[k].micro_batch));
    };
    const auto ahead = static_cast<std::size_t>(2 * (p - 1 - r)) +
                       static_cast<std::size_t>(v - 1) * static_cast<std::size_t>(group_size);
    const std::size_t warm_up = std::min(passes, ahead);
    for (std::size_t k = 0; k < warm_up; ++k) forward(k);
    for (std::size_t k = warm_up; k < passes; ++k) {
      forward(k);
      backward(k - warm_up);
    }
    for (std::size_t k = passes - warm_up; k < passes; ++k) backward(k);
  }
  return schedule;
}

}  // namespace stagecraft

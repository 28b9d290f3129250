#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

namespace {

/// One rank's list; passes of micro-batches from m on are counted but not written.
struct RankWriter {
  std::vector<Op>& program;
  std::int32_t micro_batches;
  std::int32_t forwards[2] = {0, 0};
  std::int32_t input_grads[2] = {0, 0};
  std::int32_t weight_grads[2] = {0, 0};
  std::int32_t stages[2];

  void put(OpKind kind, std::int32_t (&counts)[2], int chunk) {
    const std::int32_t i = counts[chunk]++;
    if (i < micro_batches) program.push_back(compute_op(kind, stages[chunk], i));
  }
  void forward(int chunk) { put(OpKind::forward, forwards, chunk); }
  void input_grad(int chunk) { put(OpKind::input_grad, input_grads, chunk); }
  void weight_grad(int chunk) { put(OpKind::weight_grad, weight_grads, chunk); }
  void backward(int chunk) {
    input_grad(chunk);
    weight_grad(chunk);
  }
};

}  // namespace

Schedule generate_zbv(const PipelineShape& shape) {
  const std::int32_t p = shape.ranks;
  const std::int32_t planned = std::max(shape.micro_batches, 2 * p - 1);
  Schedule schedule = empty_schedule("zbv", shape, {v_map(p)}, 3 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < p; ++r) {
    RankWriter rank{
        schedule.programs[static_cast<std::size_t>(r)], shape.micro_batches, {}, {}, {}, {r, 2 * p - 1 - r}};
    for (std::int32_t k = 0; k < 2 * (p - r) - 1; ++k) rank.forward(0);
    for (std::int32_t k = 0; k < r; ++k) {
      rank.forward(1);
      rank.forward(0);
    }
    for (std::int32_t k = 0; k < p - r; ++k) {
      rank.forward(1);
      rank.backward(1);
    }
    while (rank.forwards[1] < rank.forwards[0] || rank.forwards[0] < planned) {
      if (rank.forwards[0] < planned) rank.forward(0);
      rank.backward(0);
      rank.forward(1);
      rank.backward(1);
    }
    for (std::int32_t k = 0; k < r; ++k) {
      rank.input_grad(0);
      rank.input_grad(1);
    }
    for (std::int32_t k = 0; k < p - r; ++k) rank.backward(0);
    while (rank.weight_grads[1] < planned) rank.weight_grad(1);
    while (rank.weight_grads[0] < planned) rank.weight_grad(0);
  }
  return schedule;
}

}  // namespace stagecraft

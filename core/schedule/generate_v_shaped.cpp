#include <array>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"
#include "schedule/v_shaped_table.hpp"

namespace stagecraft {

namespace {

/// One micro-batch every six slots.
SlotTable repeated_pattern(const PipelineShape& shape, VShapedMemory memory) {
  const std::int32_t p = shape.ranks;
  SlotTable table = empty_table(p, shape.micro_batches);
  for (std::int32_t j = 0; j < p; ++j) {
    const std::array<std::int32_t, 4> slots = v_shaped_block(p, j, memory);
    for (std::int32_t i = 0; i < shape.micro_batches; ++i) {
      for (std::uint8_t pass = 0; pass < 4; ++pass) {
        place(table, j, slots[pass] + 6 * i, {static_cast<SlotPass>(pass), i});
      }
    }
  }
  return table;
}

/// The passes of one rank by slot, with named weight gradients in the empty slots: those of chunk 1 first.
void write_program(std::vector<Op>& program, const std::vector<Cell>& cells, std::int32_t p, std::int32_t r) {
  const std::int32_t stages[2] = {r, 2 * p - 1 - r};
  std::int32_t input_grads[2] = {0, 0};
  std::int32_t weight_grads[2] = {0, 0};
  const auto weight_grad = [&] {
    for (const int chunk : {1, 0}) {
      if (weight_grads[chunk] == input_grads[chunk]) continue;
      program.push_back(compute_op(OpKind::weight_grad, stages[chunk], weight_grads[chunk]++));
      return true;
    }
    return false;
  };
  for (const Cell& cell : cells) {
    if (cell.empty()) {
      weight_grad();
      continue;
    }
    const int chunk = cell.pass == SlotPass::forward_0 || cell.pass == SlotPass::input_grad_0 ? 0 : 1;
    const bool forward = cell.pass == SlotPass::forward_0 || cell.pass == SlotPass::forward_1;
    program.push_back(compute_op(forward ? OpKind::forward : OpKind::input_grad, stages[chunk], cell.index));
    if (!forward) ++input_grads[chunk];
  }
  while (weight_grad()) {
  }
}

}  // namespace

Schedule generate_v_shaped(const PipelineShape& shape, VShapedMemory memory) {
  SlotTable table = repeated_pattern(shape, memory);
  fill_weight_grads(table);
  reorder(table, true);
  table = squeeze(table);
  drop_weight_grads(table);
  reorder(table, false);
  fill_weight_grads(table);
  table = squeeze(table);
  drop_weight_grads(table);
  Schedule schedule = empty_schedule(memory == VShapedMemory::half ? "v-half" : "v-min", shape, {v_map(shape.ranks)},
                                     3 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < shape.ranks; ++r) {
    const auto rank = static_cast<std::size_t>(r);
    write_program(schedule.programs[rank], table.cells[rank], shape.ranks, r);
  }
  return schedule;
}

}  // namespace stagecraft

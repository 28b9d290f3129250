#include "schedule/v_shaped_table.hpp"

#include <algorithm>

namespace stagecraft {

namespace {

std::size_t key_of(const SlotTable& table, SlotPass pass, std::int32_t index) {
  return static_cast<std::size_t>(pass) * 2 * static_cast<std::size_t>(table.micro_batches) +
         static_cast<std::size_t>(index);
}

bool is_input_grad(const Cell& cell) {
  return !cell.empty() && (cell.pass == SlotPass::input_grad_0 || cell.pass == SlotPass::input_grad_1);
}

void drop_trailing_empty(std::vector<Cell>& cells) {
  while (!cells.empty() && cells.back().empty()) cells.pop_back();
}

}  // namespace

std::array<std::int32_t, 4> v_shaped_block(std::int32_t p, std::int32_t rank, VShapedMemory memory) {
  if (memory == VShapedMemory::half) {
    const std::int32_t gap = p % 2 == 0 ? 3 : 0;
    return {2 * rank, 3 * p - 2 - rank, 3 * p + gap - 1 + 2 * rank, 6 * p + gap - 2 - rank};
  }
  const std::int32_t gap = p % 3 == 0 ? 2 : 0;
  return {rank, 2 * p - 1 - rank, 2 * p + gap + rank, 4 * p + gap - 1 - rank};
}

SlotTable empty_table(std::int32_t ranks, std::int32_t micro_batches) {
  SlotTable table{ranks, micro_batches, {}, {}};
  table.cells.resize(static_cast<std::size_t>(ranks));
  table.slots.resize(static_cast<std::size_t>(ranks));
  for (auto& of_rank : table.slots) of_rank.assign(10 * static_cast<std::size_t>(micro_batches), -1);
  for (auto& of_rank : table.cells) of_rank.reserve(6 * static_cast<std::size_t>(micro_batches + 2 * ranks));
  return table;
}

void place(SlotTable& table, std::int32_t rank, std::int32_t slot, Cell cell) {
  auto& cells = table.cells[static_cast<std::size_t>(rank)];
  if (cells.size() <= static_cast<std::size_t>(slot)) cells.resize(static_cast<std::size_t>(slot) + 1);
  cells[static_cast<std::size_t>(slot)] = cell;
  table.slots[static_cast<std::size_t>(rank)][key_of(table, cell.pass, cell.index)] = slot;
}

std::int32_t slot_of(const SlotTable& table, std::int32_t rank, SlotPass pass, std::int32_t index) {
  return table.slots[static_cast<std::size_t>(rank)][key_of(table, pass, index)];
}

void fill_weight_grads(SlotTable& table) {
  for (std::int32_t r = 0; r < table.ranks; ++r) {
    std::int32_t pending = 0;
    std::int32_t placed = 0;
    const auto take = [&](std::int32_t slot) {
      place(table, r, slot, {SlotPass::weight_grad, placed++});
      --pending;
    };
    const auto end = static_cast<std::int32_t>(table.cells[static_cast<std::size_t>(r)].size());
    for (std::int32_t slot = 0; slot < end; ++slot) {
      const Cell& cell = table.cells[static_cast<std::size_t>(r)][static_cast<std::size_t>(slot)];
      if (is_input_grad(cell)) ++pending;
      if (cell.empty() && pending > 0) take(slot);
    }
    const std::int32_t left = pending;
    for (std::int32_t i = 0; i < left; ++i) take(end + i);
  }
}

void drop_weight_grads(SlotTable& table) {
  for (auto& cells : table.cells) {
    for (Cell& cell : cells) {
      if (cell.pass == SlotPass::weight_grad) cell = {};
    }
    drop_trailing_empty(cells);
  }
}

}  // namespace stagecraft

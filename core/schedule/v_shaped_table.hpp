#pragma once
// The slot table behind V-half and V-min (arXiv 2405.15362; sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py):
// every pass of a chunk takes one slot, and passes move to earlier slots as long as dependencies and memory allow.

#include <array>
#include <cstdint>
#include <vector>

#include "schedule/generators.hpp"

namespace stagecraft {

/// The passes of one rank, in the order in which one micro-batch runs through it. A weight gradient has no name yet:
/// the k-th of a rank belongs to the k-th input gradient of the rank.
enum class SlotPass : std::uint8_t { forward_0, forward_1, input_grad_1, input_grad_0, weight_grad };

struct Cell {
  SlotPass pass = SlotPass::forward_0;
  std::int32_t index = -1;  // micro-batch, or k of a weight gradient; -1: the slot is empty
  bool empty() const { return index < 0; }
};

struct SlotTable {
  std::int32_t ranks = 0, micro_batches = 0;
  std::vector<std::vector<Cell>> cells;          // [rank][slot]; the last cell is not empty
  std::vector<std::vector<std::int32_t>> slots;  // [rank][pass * 2m + index] -> slot
};

/// The building block of the paper: the slots of the first micro-batch on a rank, in the order of SlotPass.
std::array<std::int32_t, 4> v_shaped_block(std::int32_t p, std::int32_t rank, VShapedMemory memory);

SlotTable empty_table(std::int32_t ranks, std::int32_t micro_batches);
void place(SlotTable& table, std::int32_t rank, std::int32_t slot, Cell cell);
std::int32_t slot_of(const SlotTable& table, std::int32_t rank, SlotPass pass, std::int32_t index);

/// Puts a pending weight gradient into every empty slot, and the rest after the end.
void fill_weight_grads(SlotTable& table);
void drop_weight_grads(SlotTable& table);

/// Keeps each rank's order and starts every pass as early as its dependencies allow.
SlotTable squeeze(const SlotTable& table);

/// Moves passes of the warm-up (if weight gradients are placed) and of the cool-down to earlier free slots, without
/// raising the highest number of live activations of any rank above the highest of the table given.
void reorder(SlotTable& table, bool with_weight_grads);

}  // namespace stagecraft

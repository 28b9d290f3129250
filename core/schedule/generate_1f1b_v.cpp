// V placement with full backwards (arXiv 2405.15362, "1F1B-V"; sail-sg/zero-bubble-pipeline-parallelism, v1f1b.py). In
// a table of slots a forward of a chunk takes one and a backward two; one micro-batch enters every six slots. Then
// every pass moves to an earlier free slot as far as its inputs and the highest memory of the table allow.

#include <algorithm>
#include <array>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

namespace {

/// In the order in which one micro-batch runs through a rank; a backward is a first and a second half.
enum Half : std::uint8_t { forward_0, forward_1, first_1, second_1, first_0, second_0, halves };

struct Cell {
  Half half = halves;
  std::int32_t micro_batch = -1;
  bool empty() const { return micro_batch < 0; }
};

struct Table {
  std::int32_t p = 0, m = 0;
  std::vector<std::vector<Cell>> cells;              // [rank][slot]
  std::vector<std::vector<std::int32_t>> alive;      // [rank][slot], after the slot
  std::vector<std::vector<std::int32_t>> positions;  // [rank][half * m + micro-batch] -> slot

  std::size_t key(Half half, std::int32_t i) const {
    return static_cast<std::size_t>(half) * static_cast<std::size_t>(m) + static_cast<std::size_t>(i);
  }
  std::int32_t slot_of(std::int32_t rank, Half half, std::int32_t i) const {
    return positions[static_cast<std::size_t>(rank)][key(half, i)];
  }
};

using Pattern = std::vector<std::array<std::int32_t, halves>>;  // [rank][half] -> slot of micro-batch 0

/// The first micro-batch runs down the ranks and up again, forwards and then backwards. Backwards leave room for three
/// forwards after every third rank, so that no two passes of a rank meet when the pattern repeats every six slots.
Pattern building_block(std::int32_t p) {
  Pattern pattern(static_cast<std::size_t>(p));
  std::int32_t slot = 2 * p + (p % 3 == 0 ? 3 : 0);
  std::int32_t ranks_in_row = (3 - (p + 2) % 3) % 3;
  const auto backward = [&](std::int32_t rank, Half first, Half second) {
    pattern[static_cast<std::size_t>(rank)][first] = slot;
    pattern[static_cast<std::size_t>(rank)][second] = slot + 1;
    slot += 2;
    if (++ranks_in_row < 3) return;
    ranks_in_row = 0;
    slot += 3;
  };
  for (std::int32_t r = 0; r < p; ++r) {
    pattern[static_cast<std::size_t>(r)][forward_0] = r;
    pattern[static_cast<std::size_t>(r)][forward_1] = 2 * p - 1 - r;
    backward(r, first_1, second_1);
  }
  for (std::int32_t r = p - 1; r >= 0; --r) backward(r, first_0, second_0);
  return pattern;
}

Table repeated(const Pattern& pattern, std::int32_t m) {
  Table table;
  table.p = static_cast<std::int32_t>(pattern.size());
  table.m = m;
  for (const auto& of_rank : pattern) {
    const std::int32_t end = *std::max_element(of_rank.begin(), of_rank.end()) + 6 * (m - 1) + 1;
    auto& cells = table.cells.emplace_back(static_cast<std::size_t>(end));
    auto& positions = table.positions.emplace_back(halves * static_cast<std::size_t>(m));
    for (std::int32_t i = 0; i < m; ++i) {
      for (std::uint8_t h = 0; h < halves; ++h) {
        const std::int32_t slot = of_rank[h] + 6 * i;
        cells[static_cast<std::size_t>(slot)] = {static_cast<Half>(h), i};
        positions[table.key(static_cast<Half>(h), i)] = slot;
      }
    }
    auto& alive = table.alive.emplace_back();
    std::int32_t count = 0;
    for (const Cell& cell : cells) {
      if (!cell.empty() && cell.half <= forward_1) ++count;
      if (!cell.empty() && (cell.half == second_0 || cell.half == second_1)) --count;
      alive.push_back(count);
    }
  }
  return table;
}

/// First slot after everything that the pass needs.
std::int32_t earliest_slot(const Table& table, std::int32_t rank, const Cell& cell) {
  const std::int32_t i = cell.micro_batch;
  std::int32_t last = i > 0 ? table.slot_of(rank, cell.half, i - 1) : -1;
  const auto after = [&](std::int32_t of_rank, Half half) { last = std::max(last, table.slot_of(of_rank, half, i)); };
  switch (cell.half) {
    case forward_0:
      if (rank > 0) after(rank - 1, forward_0);
      break;
    case forward_1:
      rank < table.p - 1 ? after(rank + 1, forward_1) : after(rank, forward_0);
      break;
    case first_1:
      rank > 0 ? after(rank - 1, second_1) : after(rank, forward_1);
      break;
    case first_0:
      rank < table.p - 1 ? after(rank + 1, second_0) : after(rank, second_1);
      break;
    case second_1:
      after(rank, first_1);
      break;
    case second_0:
      after(rank, first_0);
      break;
    case halves:
      break;
  }
  return last + 1;
}

/// Where the pass in `slot` moves to, or `slot`.
std::size_t target_of(const Table& table, std::int32_t rank, std::size_t slot, std::int32_t most_alive) {
  const auto& cells = table.cells[static_cast<std::size_t>(rank)];
  const auto& alive = table.alive[static_cast<std::size_t>(rank)];
  const Half half = cells[slot].half;
  auto target = static_cast<std::size_t>(earliest_slot(table, rank, cells[slot]));
  if (half <= forward_1) {
    std::size_t lowest = slot;
    while (lowest > target && alive[lowest - 1] < most_alive) --lowest;
    target = lowest;
  }
  const bool needs_two = half == first_0 || half == first_1;
  while (target < slot && (!cells[target].empty() || (needs_two && !cells[target + 1].empty()))) ++target;
  return target;
}

void squeeze(Table& table) {
  std::int32_t most_alive = 0;
  std::size_t end = 0;
  for (const auto& alive : table.alive) {
    most_alive = std::max(most_alive, *std::max_element(alive.begin(), alive.end()));
    end = std::max(end, alive.size());
  }
  for (std::size_t slot = 0; slot < end; ++slot) {
    for (std::int32_t r = 0; r < table.p; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      auto& cells = table.cells[rank];
      if (slot >= cells.size() || cells[slot].empty()) continue;
      const std::size_t target = target_of(table, r, slot, most_alive);
      if (target == slot) continue;
      const Cell cell = cells[slot];
      cells[slot] = {};
      cells[target] = cell;
      table.positions[rank][table.key(cell.half, cell.micro_batch)] = static_cast<std::int32_t>(target);
      if (cell.half == first_0 || cell.half == first_1) continue;
      const std::int32_t change = cell.half <= forward_1 ? 1 : -1;
      for (std::size_t s = target; s < slot; ++s) table.alive[rank][s] += change;
    }
  }
}

}  // namespace

Schedule generate_1f1b_v(const PipelineShape& shape) {
  const std::int32_t p = shape.ranks;
  Table table = repeated(building_block(p), shape.micro_batches);
  squeeze(table);
  Schedule schedule = empty_schedule("1f1b-v", shape, {v_map(p)}, 2 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < p; ++r) {
    for (const Cell& cell : table.cells[static_cast<std::size_t>(r)]) {
      if (cell.empty() || cell.half == second_0 || cell.half == second_1) continue;
      const bool outer = cell.half == forward_0 || cell.half == first_0;
      schedule.programs[static_cast<std::size_t>(r)].push_back(compute_op(
          cell.half <= forward_1 ? OpKind::forward : OpKind::backward, outer ? r : 2 * p - 1 - r, cell.micro_batch));
    }
  }
  return schedule;
}

}  // namespace stagecraft

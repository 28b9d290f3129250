// Squeezing and reordering of the slot table.

#include <algorithm>

#include "schedule/v_shaped_table.hpp"

namespace stagecraft {

namespace {

/// The slots of the input gradients of every rank passed so far, ascending: a weight gradient needs the k-th.
using InputGradSlots = std::vector<std::vector<std::int32_t>>;

bool is_input_grad(SlotPass pass) {
  return pass == SlotPass::input_grad_0 || pass == SlotPass::input_grad_1;
}

/// First slot after everything that the pass needs, in the positions of `table`.
std::int32_t earliest_slot(const SlotTable& table, const InputGradSlots& input_grads, std::int32_t rank,
                           const Cell& cell) {
  if (cell.pass == SlotPass::weight_grad) {
    const std::int32_t previous = cell.index > 0 ? slot_of(table, rank, cell.pass, cell.index - 1) : -1;
    return 1 + std::max(previous, input_grads[static_cast<std::size_t>(rank)][static_cast<std::size_t>(cell.index)]);
  }
  const bool from_below = cell.pass == SlotPass::forward_0 || cell.pass == SlotPass::input_grad_1;
  const std::int32_t neighbour = from_below ? rank - 1 : rank + 1;
  std::int32_t last = -1;
  if (neighbour >= 0 && neighbour < table.ranks) last = slot_of(table, neighbour, cell.pass, cell.index);
  if (cell.pass != SlotPass::forward_0) {
    const auto before = static_cast<SlotPass>(static_cast<std::uint8_t>(cell.pass) - 1);
    last = std::max(last, slot_of(table, rank, before, cell.index));
  }
  if (cell.index > 0) last = std::max(last, slot_of(table, rank, cell.pass, cell.index - 1));
  return last + 1;
}

void remember_input_grad(InputGradSlots& input_grads, std::int32_t rank, std::int32_t slot) {
  auto& slots = input_grads[static_cast<std::size_t>(rank)];
  slots.insert(std::upper_bound(slots.begin(), slots.end(), slot), slot);
}

std::size_t slot_count(const SlotTable& table) {
  std::size_t count = 0;
  for (const auto& cells : table.cells) count = std::max(count, cells.size());
  return count;
}

/// What a rank holds after each slot. While no weight gradients are placed, an empty slot is taken by a pending one.
class MemoryProfile {
 public:
  struct State {
    std::int32_t alive = 0, pending = 0;
    bool operator==(const State&) const = default;
  };

  MemoryProfile(const std::vector<Cell>& cells, bool with_weight_grads)
      : cells_(cells), with_weight_grads_(with_weight_grads), after_(cells.size()) {
    State state;
    for (std::size_t slot = 0; slot < cells.size(); ++slot) after_[slot] = state = step(state, cells[slot]);
  }

  std::int32_t peak() const {
    std::int32_t most = 0;
    for (const State& state : after_) most = std::max(most, state.alive);
    return most;
  }

  /// Whether the rank stays within `limit` if the pass in slot `from` runs in the earlier, empty slot `to`.
  bool allows(std::size_t from, std::size_t to, std::int32_t limit) const {
    State state = to > 0 ? after_[to - 1] : State{};
    for (std::size_t slot = to; slot < cells_.size(); ++slot) {
      state = step(state, slot == to ? cells_[from] : slot == from ? Cell{} : cells_[slot]);
      if (state.alive > limit) return false;
      if (slot >= from && state == after_[slot]) return true;
    }
    return true;
  }

  /// The cells have changed from slot `first` to slot `last`.
  void update(std::size_t first, std::size_t last) {
    State state = first > 0 ? after_[first - 1] : State{};
    for (std::size_t slot = first; slot < cells_.size(); ++slot) {
      state = step(state, cells_[slot]);
      if (slot > last && state == after_[slot]) return;
      after_[slot] = state;
    }
  }

 private:
  State step(State state, const Cell& cell) const {
    if (cell.empty()) {
      if (!with_weight_grads_ && state.pending > 0) --state.pending, --state.alive;
    } else if (cell.pass == SlotPass::weight_grad) {
      --state.alive;
    } else if (!is_input_grad(cell.pass)) {
      ++state.alive;
    } else if (!with_weight_grads_) {
      ++state.pending;
    }
    return state;
  }

  const std::vector<Cell>& cells_;
  bool with_weight_grads_;
  std::vector<State> after_;
};

}  // namespace

SlotTable squeeze(const SlotTable& table) {
  SlotTable result = empty_table(table.ranks, table.micro_batches);
  InputGradSlots input_grads(static_cast<std::size_t>(table.ranks));
  const std::size_t end = slot_count(table);
  for (std::size_t slot = 0; slot < end; ++slot) {
    for (std::int32_t r = 0; r < table.ranks; ++r) {
      const auto& cells = table.cells[static_cast<std::size_t>(r)];
      if (slot >= cells.size() || cells[slot].empty()) continue;
      const Cell cell = cells[slot];
      const auto free_from = static_cast<std::int32_t>(result.cells[static_cast<std::size_t>(r)].size());
      const std::int32_t start = std::max(free_from, earliest_slot(result, input_grads, r, cell));
      place(result, r, start, cell);
      if (is_input_grad(cell.pass)) remember_input_grad(input_grads, r, start);
    }
  }
  return result;
}

void reorder(SlotTable& table, bool with_weight_grads) {
  std::vector<MemoryProfile> profiles;
  std::int32_t limit = 0;
  for (const auto& cells : table.cells) {
    profiles.emplace_back(cells, with_weight_grads);
    limit = std::max(limit, profiles.back().peak());
  }
  InputGradSlots input_grads(static_cast<std::size_t>(table.ranks));
  enum class Phase { warm_up, steady, cool_down } phase = Phase::warm_up;
  const std::size_t end = slot_count(table);
  for (std::size_t slot = 0; slot < end; ++slot) {
    for (std::int32_t r = 0; r < table.ranks; ++r) {
      auto& cells = table.cells[static_cast<std::size_t>(r)];
      if (slot >= cells.size() || cells[slot].empty()) continue;
      const Cell cell = cells[slot];
      if (phase == Phase::warm_up && r == 0 && cell.pass == SlotPass::input_grad_0) phase = Phase::steady;
      const bool moves = phase == Phase::cool_down || (phase == Phase::warm_up && with_weight_grads);
      std::size_t target = slot;
      if (moves) {
        MemoryProfile& profile = profiles[static_cast<std::size_t>(r)];
        target = static_cast<std::size_t>(earliest_slot(table, input_grads, r, cell));
        while (target < slot && !(cells[target].empty() && profile.allows(slot, target, limit))) ++target;
        if (target < slot) {
          cells[slot] = {};
          place(table, r, static_cast<std::int32_t>(target), cell);
          profile.update(target, slot);
        }
      }
      if (is_input_grad(cell.pass)) remember_input_grad(input_grads, r, static_cast<std::int32_t>(target));
      if (phase == Phase::steady && cell.pass == SlotPass::forward_0 && cell.index == table.micro_batches - 1) {
        phase = Phase::cool_down;
      }
    }
  }
  for (auto& cells : table.cells) {
    while (!cells.empty() && cells.back().empty()) cells.pop_back();
  }
}

}  // namespace stagecraft

// V-half and V-min in the orders of AMD-AGI/Primus (zbv_greedy.py): the building blocks of arXiv 2405.15362 with a
// weight gradient in every empty slot, then two sweeps over the slots. The first moves every pass to the earliest free
// slot after its inputs that keeps the rank within the memory of the table; the second moves what follows the last
// forward of chunk 1, without a limit, and gives the weight gradients the slots that are left.

#include <algorithm>
#include <array>
#include <deque>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"
#include "schedule/v_shaped_table.hpp"

namespace stagecraft {

namespace {

/// In the order in which one micro-batch runs through a rank; weight gradients by chunk.
enum Kind : std::uint8_t { forward_0, forward_1, input_grad_1, input_grad_0, weight_grad_1, weight_grad_0, kinds };
enum class Phase : std::uint8_t { warm_up, steady, cool_down };

bool is_forward(Kind kind) {
  return kind <= forward_1;
}
bool is_weight_grad(Kind kind) {
  return kind >= weight_grad_1;
}
std::int32_t change_of_memory(Kind kind) {
  return is_forward(kind) ? 1 : is_weight_grad(kind) ? -1 : 0;
}

struct Pass {
  Kind kind = kinds;
  std::int32_t micro_batch = -1;
  Phase phase = Phase::warm_up;
  bool empty() const { return micro_batch < 0; }
};

struct RankSlots {
  std::vector<Pass> passes;                              // [slot]
  std::vector<std::int32_t> alive;                       // activations after the slot
  std::array<std::vector<std::int32_t>, kinds> slot_of;  // [kind][micro-batch]

  void place(std::size_t slot, const Pass& pass) {
    if (passes.size() <= slot) passes.resize(slot + 1);
    passes[slot] = pass;
    slot_of[pass.kind][static_cast<std::size_t>(pass.micro_batch)] = static_cast<std::int32_t>(slot);
  }
  bool is_free(std::size_t slot) const { return slot >= passes.size() || passes[slot].empty(); }
};

using Slots = std::vector<RankSlots>;

Slots repeated(std::int32_t p, std::int32_t m, VShapedMemory memory) {
  Slots slots(static_cast<std::size_t>(p));
  for (std::int32_t r = 0; r < p; ++r) {
    RankSlots& rank = slots[static_cast<std::size_t>(r)];
    for (auto& of_kind : rank.slot_of) of_kind.assign(static_cast<std::size_t>(m), -1);
    const std::array<std::int32_t, 4> block = v_shaped_block(p, r, memory);
    for (std::int32_t i = 0; i < m; ++i) {
      for (std::uint8_t kind = forward_0; kind <= input_grad_0; ++kind) {
        rank.place(static_cast<std::size_t>(block[kind] + 6 * i), {static_cast<Kind>(kind), i});
      }
    }
  }
  return slots;
}

/// Weight gradients in the order of their input gradients into the empty slots, the rest after the end. Notes the phase
/// of every pass and what is alive after every slot.
void fill(RankSlots& rank, std::int32_t micro_batches) {
  std::deque<Pass> pending;
  Phase phase = Phase::warm_up;
  const std::size_t end = rank.passes.size();
  for (std::size_t slot = 0; slot < end || !pending.empty(); ++slot) {
    if (rank.is_free(slot)) {
      if (pending.empty()) continue;
      Pass weight_grad = pending.front();
      pending.pop_front();
      weight_grad.phase = phase;
      rank.place(slot, weight_grad);
      continue;
    }
    Pass& pass = rank.passes[slot];
    pass.phase = phase;
    if (pass.kind == input_grad_0 || pass.kind == input_grad_1) {
      pending.push_back({pass.kind == input_grad_1 ? weight_grad_1 : weight_grad_0, pass.micro_batch});
    }
    if (pass.kind == input_grad_0 && pass.micro_batch == 0) phase = Phase::steady;
    if (pass.kind == forward_1 && pass.micro_batch == micro_batches - 1) phase = Phase::cool_down;
  }
  std::int32_t alive = 0;
  for (const Pass& pass : rank.passes) {
    if (!pass.empty()) alive += change_of_memory(pass.kind);
    rank.alive.push_back(alive);
  }
}

/// First slot after everything that the pass needs.
std::size_t earliest_slot(const Slots& slots, std::size_t r, const Pass& pass) {
  const auto i = static_cast<std::size_t>(pass.micro_batch);
  std::int32_t last = i > 0 ? slots[r].slot_of[pass.kind][i - 1] : -1;
  const auto after = [&](std::size_t rank, Kind kind) { last = std::max(last, slots[rank].slot_of[kind][i]); };
  const bool at_bottom = r + 1 == slots.size();
  switch (pass.kind) {
    case forward_0:
      if (r > 0) after(r - 1, forward_0);
      break;
    case forward_1:
      at_bottom ? after(r, forward_0) : after(r + 1, forward_1);
      break;
    case input_grad_1:
      r == 0 ? after(r, forward_1) : after(r - 1, input_grad_1);
      break;
    case input_grad_0:
      at_bottom ? after(r, input_grad_1) : after(r + 1, input_grad_0);
      break;
    case weight_grad_1:
      after(r, input_grad_1);
      break;
    case weight_grad_0:
      after(r, input_grad_0);
      break;
    case kinds:
      break;
  }
  return static_cast<std::size_t>(last + 1);
}

/// The earliest free slot from `first` on and before `slot`, or `slot`.
std::size_t free_slot(const RankSlots& rank, std::size_t first, std::size_t slot) {
  while (first < slot && !rank.is_free(first)) ++first;
  return std::min(first, slot);
}

void move(RankSlots& rank, std::size_t from, std::size_t to) {
  const Pass pass = rank.passes[from];
  rank.passes[from] = {};
  rank.place(to, pass);
}

std::size_t slot_count(const Slots& slots) {
  std::size_t count = 0;
  for (const RankSlots& rank : slots) count = std::max(count, rank.passes.size());
  return count;
}

void squeeze_within_memory(Slots& slots) {
  std::int32_t most = 0;
  for (const RankSlots& rank : slots) most = std::max(most, *std::max_element(rank.alive.begin(), rank.alive.end()));
  const std::size_t end = slot_count(slots);
  for (std::size_t slot = 0; slot < end; ++slot) {
    for (std::size_t r = 0; r < slots.size(); ++r) {
      RankSlots& rank = slots[r];
      if (rank.is_free(slot)) continue;
      const Pass pass = rank.passes[slot];
      const std::int32_t change = change_of_memory(pass.kind);
      const std::size_t earliest = earliest_slot(slots, r, pass);
      std::size_t first = slot;  // from here on the rank stays within its memory
      while (first > earliest && rank.alive[first - 1] + change <= most) --first;
      const std::size_t target = free_slot(rank, first, slot);
      if (target == slot) continue;
      for (std::size_t s = target; s < slot; ++s) rank.alive[s] += change;
      move(rank, slot, target);
    }
  }
}

void squeeze_cool_down(Slots& slots) {
  std::vector<std::vector<Pass>> weight_grads(slots.size());
  const std::size_t end = slot_count(slots);
  for (std::size_t slot = 0; slot < end; ++slot) {
    for (std::size_t r = 0; r < slots.size(); ++r) {
      RankSlots& rank = slots[r];
      if (rank.is_free(slot) || rank.passes[slot].phase != Phase::cool_down) continue;
      const Pass pass = rank.passes[slot];
      if (is_weight_grad(pass.kind)) {
        weight_grads[r].push_back(pass);
        rank.passes[slot] = {};
        continue;
      }
      const std::size_t target = free_slot(rank, earliest_slot(slots, r, pass), slot);
      if (target < slot) move(rank, slot, target);
    }
  }
  for (std::size_t r = 0; r < slots.size(); ++r) {
    for (const Pass& pass : weight_grads[r]) {
      std::size_t slot = earliest_slot(slots, r, pass);
      while (!slots[r].is_free(slot)) ++slot;
      slots[r].place(slot, pass);
    }
  }
}

Op op_of(const Pass& pass, std::int32_t p, std::int32_t r) {
  const bool outer = pass.kind == forward_0 || pass.kind == input_grad_0 || pass.kind == weight_grad_0;
  const OpKind kind = is_forward(pass.kind)       ? OpKind::forward
                      : is_weight_grad(pass.kind) ? OpKind::weight_grad
                                                  : OpKind::input_grad;
  return compute_op(kind, outer ? r : 2 * p - 1 - r, pass.micro_batch);
}

}  // namespace

Schedule generate_v_shaped_primus(const PipelineShape& shape, VShapedMemory memory) {
  const std::int32_t p = shape.ranks;
  Slots slots = repeated(p, shape.micro_batches, memory);
  for (RankSlots& rank : slots) fill(rank, shape.micro_batches);
  squeeze_within_memory(slots);
  squeeze_cool_down(slots);
  Schedule schedule = empty_schedule(memory == VShapedMemory::half ? "v-half-primus" : "v-min-primus", shape,
                                     {v_map(p)}, 3 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < p; ++r) {
    for (const Pass& pass : slots[static_cast<std::size_t>(r)].passes) {
      if (!pass.empty()) schedule.programs[static_cast<std::size_t>(r)].push_back(op_of(pass, p, r));
    }
  }
  return schedule;
}

}  // namespace stagecraft

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

namespace {

/// One unit of at most p micro-batches: the first half runs down on replica 0, the rest up on replica 1.
struct Unit {
  std::int32_t first_micro_batch = 0, down = 0, up = 0;
};

}  // namespace

Schedule generate_chimera(const PipelineShape& shape) {
  const std::int32_t p = shape.ranks;
  const std::int32_t m = shape.micro_batches;
  std::vector<Unit> units;
  if (m <= p) {
    units.push_back({0, (m + 1) / 2, m / 2});
  } else {
    for (std::int32_t first = 0; first < m; first += p) units.push_back({first, p / 2, p / 2});
  }
  Schedule schedule = empty_schedule("chimera", shape, {loop_map(p, 1), upward_map(p)}, 2 * passes_per_rank(shape));
  const auto width = static_cast<std::size_t>(2 * p);  // slots from one unit to the next
  std::vector<Op> slots(width * (units.size() + 1));
  for (std::int32_t r = 0; r < p; ++r) {
    slots.assign(slots.size(), Op{});
    for (std::size_t n = 0; n < units.size(); ++n) {
      const auto write = [&](std::uint8_t replica, std::int32_t stage, std::int32_t first, std::int32_t count) {
        for (std::int32_t k = 0; k < count; ++k) {
          const std::size_t base = width * n + static_cast<std::size_t>(2 * k);
          slots[base + static_cast<std::size_t>(stage)] = compute_op(OpKind::forward, stage, first + k, replica);
          slots[base + static_cast<std::size_t>(2 * p - 1 - stage)] =
              compute_op(OpKind::backward, stage, first + k, replica);
        }
      };
      const Unit& unit = units[n];
      write(0, r, unit.first_micro_batch, unit.down);
      write(1, p - 1 - r, unit.first_micro_batch + unit.down, unit.up);
    }
    for (const Op& op : slots) {
      if (op.stage.valid()) schedule.programs[static_cast<std::size_t>(r)].push_back(op);
    }
  }
  return schedule;
}

}  // namespace stagecraft

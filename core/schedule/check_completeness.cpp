#include <fmt/format.h>

#include "schedule/check_parts.hpp"

namespace stagecraft {

namespace {

/// What has been seen of one stage and micro-batch, one bit per kind.
enum : std::uint8_t { saw_f = 1, saw_b = 2, saw_i = 4, saw_w = 8, saw_r = 16 };

std::uint8_t bit_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
      return saw_f;
    case OpKind::backward:
      return saw_b;
    case OpKind::input_grad:
      return saw_i;
    case OpKind::weight_grad:
      return saw_w;
    case OpKind::recompute:
      return saw_r;
    default:
      return 0;
  }
}

struct Cell {
  std::uint8_t seen = 0;
  std::uint8_t replica = 0;
};

void check_op(const Op& op, std::int64_t rank, std::int64_t position, Cell& cell, FindingList& out) {
  const std::uint8_t bit = bit_of(op.kind);
  if ((cell.seen & bit) != 0) {
    out.add("duplicate-operation", rank, position,
            fmt::format("{} stands on rank {} a second time", to_text(op), rank));
    return;
  }
  if (cell.seen != 0 && cell.replica != op.replica) {
    out.add("two-replicas", rank, position,
            fmt::format("{}: micro-batch {} runs in replica {} and in replica {}", to_text(op), op.micro_batch.value,
                        cell.replica, op.replica));
  }
  const std::uint8_t other_way = op.kind == OpKind::backward ? saw_i | saw_w : (bit & (saw_i | saw_w)) != 0 ? saw_b : 0;
  if ((cell.seen & other_way) != 0) {
    out.add("backward-both-ways", rank, position,
            fmt::format("{}: this backward is there whole (B) and in halves (I, W)", to_text(op)));
  }
  const bool needs_forward = op.kind != OpKind::forward && op.kind != OpKind::weight_grad;
  if (needs_forward && (cell.seen & saw_f) == 0) {
    out.add("order-within-stage", rank, position, fmt::format("{} stands before its forward", to_text(op)));
  }
  if (op.kind == OpKind::weight_grad && (cell.seen & (saw_i | saw_b)) == 0) {
    out.add("order-within-stage", rank, position, fmt::format("{} stands before its input gradient", to_text(op)));
  }
  if (op.kind == OpKind::recompute && (cell.seen & (saw_b | saw_i)) != 0) {
    out.add("order-within-stage", rank, position, fmt::format("{} stands behind its backward", to_text(op)));
  }
  cell.seen |= bit;
  cell.replica = op.replica;
}

void check_cell(const Schedule& schedule, std::int32_t stage, std::int32_t micro_batch, const Cell& cell,
                FindingList& out) {
  const std::int64_t rank = rank_of(schedule, Stage(stage), cell.replica).value;
  const auto missing = [&](const char* code, const char* what) {
    out.add(code, rank, -1, fmt::format("micro-batch {} has no {} at stage {}", micro_batch, what, stage));
  };
  if ((cell.seen & saw_f) == 0) missing("forward-missing", "forward");
  if ((cell.seen & saw_b) != 0) return;
  if ((cell.seen & (saw_i | saw_w)) == 0) {
    missing("backward-missing", "backward");
  } else if ((cell.seen & saw_i) == 0) {
    missing("backward-missing", "input gradient (I)");
  } else if ((cell.seen & saw_w) == 0) {
    missing("backward-missing", "weight gradient (W)");
  }
}

bool closes_pair(const std::vector<Op>& program, std::size_t at) {
  if (at + 1 >= program.size() || program[at].kind != OpKind::forward) return false;
  const OpKind next = program[at + 1].kind;
  return next == OpKind::backward || next == OpKind::input_grad;
}

}  // namespace

void check_completeness(const Schedule& schedule, FindingList& out) {
  const auto micro_batches = static_cast<std::size_t>(schedule.shape.micro_batches);
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  std::vector<Cell> cells(stages * micro_batches);
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto& program = schedule.programs[r];
    const auto rank = static_cast<std::int64_t>(r);
    for (std::size_t i = 0; i < program.size() && !out.enough(); ++i) {
      const Op& op = program[i];
      if (op.overlaps_next && !closes_pair(program, i)) {
        out.add("pair-incomplete", rank, static_cast<std::int64_t>(i),
                fmt::format("{} is to overlap the next operation, which is no backward", to_text(op)));
      }
      if (bit_of(op.kind) == 0) continue;
      check_op(op, rank, static_cast<std::int64_t>(i), cells[op.stage.index() * micro_batches + op.micro_batch.index()],
               out);
    }
  }
  for (std::size_t s = 0; s < stages && !out.enough(); ++s) {
    for (std::size_t i = 0; i < micro_batches && !out.enough(); ++i) {
      const Cell& cell = cells[s * micro_batches + i];
      if ((cell.seen & saw_f) != 0 && (cell.seen & saw_b) != 0) continue;
      check_cell(schedule, static_cast<std::int32_t>(s), static_cast<std::int32_t>(i), cell, out);
    }
  }
}

}  // namespace stagecraft

#include <fmt/format.h>

#include <algorithm>

#include "schedule/check_parts.hpp"

namespace stagecraft {

namespace {

/// Positions on one rank of what belongs to one stage and micro-batch.
struct Cell {
  std::int32_t offload = -1, reload = -1;
  std::int32_t forward = -1, backward = -1, recompute = -1;
};

/// The same of the states of one stage of a rank.
struct States {
  std::int32_t gradient_copy = -1, last_gradient = -1;
};

class RankCopies {
 public:
  RankCopies(const Schedule& schedule, std::size_t rank, FindingList& out)
      : program_(schedule.programs[rank]),
        rank_(static_cast<std::int64_t>(rank)),
        micro_batches_(static_cast<std::size_t>(schedule.shape.micro_batches)),
        out_(out) {
    const auto stages = static_cast<std::size_t>(stage_count(schedule));
    cells_.resize(stages * micro_batches_);
    states_.resize(stages);
  }

  void check() {
    for (std::size_t i = 0; i < program_.size(); ++i) read(program_[i], static_cast<std::int32_t>(i));
    for (std::size_t i = 0; i < cells_.size(); ++i) check_cell(cells_[i]);
    for (const States& states : states_) check_states(states);
  }

 private:
  void add(const char* code, std::int32_t position, const char* what) {
    const Op& op = program_[static_cast<std::size_t>(position)];
    out_.add(code, rank_, position, fmt::format("{} on rank {} {}", to_text(op), rank_, what));
  }

  void place(std::int32_t& cell, std::int32_t position) {
    if (cell >= 0) add("copy-unmatched", position, "stands there a second time");
    cell = position;
  }

  void read(const Op& op, std::int32_t position) {
    if (is_copy(op.kind) && op.lane != Lane::copy) add("copy-lane", position, "is not on the lane \"copy\"");
    if (op.kind == OpKind::optimizer_step) step_ = position;
    if (!op.stage.valid()) return;
    States& states = states_[op.stage.index()];
    switch (op.kind) {
      case OpKind::offload_grad:
        return place(states.gradient_copy, position);
      case OpKind::reduce_grad:
      case OpKind::reduce_tied:
        states.last_gradient = position;
        return;
      case OpKind::backward:
      case OpKind::weight_grad:
        states.last_gradient = position;
        break;
      default:
        break;
    }
    if (!op.micro_batch.valid()) return;
    Cell& cell = cells_[op.stage.index() * micro_batches_ + op.micro_batch.index()];
    switch (op.kind) {
      case OpKind::offload:
        return place(cell.offload, position);
      case OpKind::reload:
        return place(cell.reload, position);
      case OpKind::forward:
        cell.forward = position;
        return;
      case OpKind::recompute:
        cell.recompute = position;
        return;
      case OpKind::backward:
      case OpKind::input_grad:
        cell.backward = position;
        return;
      default:
        return;
    }
  }

  void check_cell(const Cell& cell) {
    if (cell.offload < 0 && cell.reload < 0) return;
    if (cell.offload < 0) return add("copy-unmatched", cell.reload, "brings back what was not copied to the host");
    if (cell.reload < 0) return add("copy-unmatched", cell.offload, "copies what does not come back");
    if (cell.offload > cell.forward) add("copy-misplaced", cell.offload, "stands behind its forward");
    const std::int32_t use = cell.recompute >= 0 ? std::min(cell.recompute, cell.backward) : cell.backward;
    if (cell.reload > use) add("copy-misplaced", cell.reload, "stands behind what needs it");
    if (cell.reload < cell.forward) add("copy-misplaced", cell.reload, "stands before the forward");
  }

  void check_states(const States& states) {
    if (states.gradient_copy < 0) return;
    if (states.gradient_copy < states.last_gradient) {
      add("copy-misplaced", states.gradient_copy, "copies gradients before the last one is there or reduced");
    }
    if (step_ >= 0 && states.gradient_copy > step_) {
      add("copy-misplaced", states.gradient_copy, "copies gradients behind the optimizer step");
    }
  }

  const std::vector<Op>& program_;
  std::int64_t rank_;
  std::size_t micro_batches_;
  FindingList& out_;
  std::vector<Cell> cells_;     // [stage][micro-batch]
  std::vector<States> states_;  // [stage]
  std::int32_t step_ = -1;
};

}  // namespace

void check_copies(const Schedule& schedule, FindingList& out) {
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const auto& program = schedule.programs[rank];
    const bool copies = std::any_of(program.begin(), program.end(), [](const Op& op) { return is_copy(op.kind); });
    if (copies) RankCopies(schedule, rank, out).check();
  }
}

}  // namespace stagecraft

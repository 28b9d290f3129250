#include <fmt/format.h>

#include <algorithm>

#include "schedule/check_parts.hpp"

namespace stagecraft {

namespace {

struct StageCopy {
  std::int32_t reductions = 0;
  std::int32_t last_gradient = -1;  // position of the last W or B
  std::int32_t reduced_at = -1;
};

struct RankState {
  std::int32_t steps = 0, step_at = -1, last_reduction = -1, last_compute = -1;
};

bool is_reduction(OpKind kind) {
  return kind == OpKind::reduce_grad || kind == OpKind::reduce_tied;
}

void check_copy(const Schedule& schedule, std::size_t index, const StageCopy& copy, FindingList& out) {
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  const Stage stage(index % stages);
  const std::int64_t rank = rank_of(schedule, stage, static_cast<std::uint8_t>(index / stages)).value;
  if (copy.reductions != 1) {
    out.add(
        "reduction-missing", rank, copy.reduced_at,
        fmt::format("the gradients of stage {} are reduced {} times on rank {}", stage.value, copy.reductions, rank),
        "once");
  } else if (copy.reduced_at < copy.last_gradient) {
    out.add("reduction-too-early", rank, copy.reduced_at,
            fmt::format("the gradients of stage {} are reduced on rank {} before the last one is there", stage.value,
                        rank));
  }
}

/// Two ranks that hold the same stages must reduce them in the same order, or each waits for the other's collective.
void check_order_of_copies(const Schedule& schedule, FindingList& out) {
  if (schedule.placement.size() < 2) return;
  std::vector<std::vector<std::int32_t>> order(schedule.programs.size());
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    for (const Op& op : schedule.programs[rank]) {
      if (op.kind == OpKind::reduce_grad) order[rank].push_back(op.stage.value);
    }
  }
  for (std::size_t s = 0; s < schedule.placement[0].size(); ++s) {
    const std::size_t a = schedule.placement[0][s].index(), b = schedule.placement[1][s].index();
    if (a >= b) continue;
    const auto shared = [&](std::size_t rank) {  // stages that a and b both hold, as this rank reduces them
      std::vector<std::int32_t> out_order;
      for (const std::int32_t stage : order[rank]) {
        const std::size_t x = schedule.placement[0][static_cast<std::size_t>(stage)].index();
        const std::size_t y = schedule.placement[1][static_cast<std::size_t>(stage)].index();
        if (std::min(x, y) == a && std::max(x, y) == b) out_order.push_back(stage);
      }
      return out_order;
    };
    if (shared(a) != shared(b)) {
      out.add("collective-order", static_cast<std::int64_t>(a), -1,
              fmt::format("ranks {} and {} reduce the stages that both hold in different orders", a, b));
    }
  }
}

void check_tied(const Schedule& schedule, FindingList& out) {
  std::vector<std::int64_t> holders;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const auto& program = schedule.programs[rank];
    const auto count =
        std::count_if(program.begin(), program.end(), [](const Op& op) { return op.kind == OpKind::reduce_tied; });
    if (count > 1) {
      out.add("collective-order", static_cast<std::int64_t>(rank), -1,
              fmt::format("rank {} reduces tied embeddings {} times", rank, count), "once");
    }
    if (count > 0) holders.push_back(static_cast<std::int64_t>(rank));
  }
  if (holders.size() == 1) {
    out.add("collective-order", holders.front(), -1,
            fmt::format("rank {} alone reduces tied embeddings; the other holder does not take part", holders.front()));
  }
}

}  // namespace

void check_reductions(const Schedule& schedule, FindingList& out) {
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  std::vector<StageCopy> copies(stages * schedule.placement.size());
  std::vector<RankState> ranks(schedule.programs.size());
  bool any_reduction = false, any_step = false;
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op& op = program[i];
      const auto position = static_cast<std::int32_t>(i);
      const std::size_t copy = op.replica * stages + (op.stage.valid() ? op.stage.index() : 0);
      if (op.kind == OpKind::backward || op.kind == OpKind::weight_grad) copies[copy].last_gradient = position;
      if (op.kind == OpKind::reduce_grad) {
        ++copies[copy].reductions;
        copies[copy].reduced_at = position;
        any_reduction = true;
      }
      if (is_reduction(op.kind)) ranks[r].last_reduction = position;
      if (has_micro_batch(op.kind)) ranks[r].last_compute = position;
      if (op.kind == OpKind::optimizer_step) {
        ++ranks[r].steps;
        ranks[r].step_at = position;
        any_step = true;
      }
      if (op.kind == OpKind::gather_params && ranks[r].steps == 0) {
        out.add("optimizer-missing", static_cast<std::int64_t>(r), position,
                fmt::format("{} on rank {} gathers parameters before the optimizer step", to_text(op), r));
      }
    }
  }
  if (any_reduction) {
    for (std::size_t i = 0; i < copies.size(); ++i) check_copy(schedule, i, copies[i], out);
    check_order_of_copies(schedule, out);
  }
  check_tied(schedule, out);
  for (std::size_t r = 0; any_step && r < ranks.size(); ++r) {
    const RankState& rank = ranks[r];
    const auto at = [&](const char* code, std::int64_t position, std::string message, const char* nearest = "") {
      out.add(code, static_cast<std::int64_t>(r), position, std::move(message), nearest);
    };
    if (rank.steps == 0) {
      at("optimizer-missing", -1, fmt::format("rank {} has no optimizer step", r));
    } else if (rank.steps > 1 && !schedule.asynchronous) {
      at("duplicate-operation", rank.step_at, fmt::format("rank {} has {} optimizer steps", r, rank.steps), "once");
    } else if (rank.step_at < rank.last_reduction) {
      at("optimizer-before-reduction", rank.step_at,
         fmt::format("the optimizer step of rank {} stands before its last reduction", r));
    } else if (rank.step_at < rank.last_compute && !schedule.asynchronous) {
      at("optimizer-before-reduction", rank.step_at,
         fmt::format("the optimizer step of rank {} stands before its last pass or message", r));
    }
  }
}

}  // namespace stagecraft

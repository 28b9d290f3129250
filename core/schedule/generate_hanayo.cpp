#include <algorithm>
#include <tuple>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

namespace {

constexpr std::int32_t not_placed = -1;

/// A pass that could run next on a rank. Order: earliest start, backward first, later stage first, earlier micro-batch.
struct Candidate {
  std::int32_t start = 0, stage = 0, micro_batch = 0;
  bool forward = false;
  bool exists = false;
};

bool before(const Candidate& a, const Candidate& b) {
  return std::tuple(a.start, a.forward, -a.stage, a.micro_batch) <
         std::tuple(b.start, b.forward, -b.stage, b.micro_batch);
}

/// List scheduling in slots: every pass takes one.
struct SlotModel {
  std::int32_t ranks, micro_batches, stages;
  std::vector<std::int32_t> forward_end, backward_end;    // [stage * m + micro-batch]
  std::vector<std::int32_t> next_forward, next_backward;  // [stage]
  std::vector<std::int32_t> free_from;                    // [rank]
  std::vector<std::vector<std::int32_t>> stages_of_rank;

  SlotModel(const PipelineShape& shape, const StageMap& map)
      : ranks(shape.ranks), micro_batches(shape.micro_batches), stages(shape.ranks * shape.chunks) {
    const std::size_t passes = static_cast<std::size_t>(ranks) * passes_per_rank(shape);
    forward_end.assign(passes, not_placed);
    backward_end.assign(passes, not_placed);
    next_forward.assign(map.size(), 0);
    next_backward.assign(map.size(), 0);
    free_from.assign(static_cast<std::size_t>(ranks), 0);
    stages_of_rank.resize(static_cast<std::size_t>(ranks));
    for (std::size_t s = 0; s < map.size(); ++s) stages_of_rank[map[s].index()].push_back(static_cast<std::int32_t>(s));
  }

  std::size_t at(std::int32_t stage, std::int32_t micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }

  /// When the inputs of the stage's next forward are there; not_placed if some are not scheduled.
  std::int32_t forward_input(std::int32_t stage, std::int32_t i) const {
    if (stage > 0) return forward_end[at(stage - 1, i)];
    return i < ranks ? 0 : backward_end[at(0, i - ranks)];  // at most p micro-batches in flight
  }
  std::int32_t backward_input(std::int32_t stage, std::int32_t i) const {
    const std::int32_t own = forward_end[at(stage, i)];
    if (own == not_placed || stage == stages - 1) return own;
    const std::int32_t later = backward_end[at(stage + 1, i)];
    return later == not_placed ? not_placed : std::max(own, later);
  }

  Candidate best_of_rank(std::size_t rank) const {
    Candidate best;
    const auto consider = [&](bool forward, std::int32_t stage, std::int32_t i, std::int32_t input) {
      if (input == not_placed) return;
      const Candidate candidate{std::max(free_from[rank], input), stage, i, forward, true};
      if (!best.exists || before(candidate, best)) best = candidate;
    };
    for (const std::int32_t stage : stages_of_rank[rank]) {
      const std::int32_t f = next_forward[static_cast<std::size_t>(stage)];
      const std::int32_t b = next_backward[static_cast<std::size_t>(stage)];
      if (f < micro_batches) consider(true, stage, f, forward_input(stage, f));
      if (b < micro_batches) consider(false, stage, b, backward_input(stage, b));
    }
    return best;
  }

  void place(std::size_t rank, const Candidate& pass) {
    const auto stage = static_cast<std::size_t>(pass.stage);
    (pass.forward ? forward_end : backward_end)[at(pass.stage, pass.micro_batch)] = pass.start + 1;
    ++(pass.forward ? next_forward : next_backward)[stage];
    free_from[rank] = pass.start + 1;
  }
};

}  // namespace

Schedule generate_hanayo(const PipelineShape& shape) {
  const StageMap map = zigzag_map(shape.ranks, shape.chunks / 2);
  Schedule schedule = empty_schedule("hanayo", shape, {map}, 2 * passes_per_rank(shape));
  SlotModel model(shape, map);
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  std::vector<Candidate> best(ranks);
  for (std::size_t r = 0; r < ranks; ++r) best[r] = model.best_of_rank(r);
  for (std::size_t left = 2 * ranks * passes_per_rank(shape); left > 0; --left) {
    std::size_t rank = ranks;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (best[r].exists && (rank == ranks || best[r].start < best[rank].start)) rank = r;
    }
    const Candidate pass = best[rank];
    model.place(rank, pass);
    schedule.programs[rank].push_back(
        compute_op(pass.forward ? OpKind::forward : OpKind::backward, pass.stage, pass.micro_batch));
    best[rank] = model.best_of_rank(rank);
    const std::int32_t fed = pass.forward ? pass.stage + 1 : pass.stage - 1;
    if (fed < 0 || fed >= model.stages) continue;
    const std::size_t fed_rank = map[static_cast<std::size_t>(fed)].index();
    if (fed_rank != rank) best[fed_rank] = model.best_of_rank(fed_rank);
  }
  return schedule;
}

}  // namespace stagecraft

// Heuristic search over the order of F, I and W in V placement (sail-sg/zero-bubble-pipeline-parallelism, zbv.py).

#include <algorithm>
#include <optional>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"
#include "schedule/stage_ticks.hpp"

namespace stagecraft {

namespace {

using Ticks = std::int64_t;

/// In the order in which one micro-batch runs through a rank.
enum Pass : std::uint8_t { forward_0, forward_1, input_grad_1, input_grad_0, weight_grad };

struct Switches {
  bool fill_backward = true;  // an I of chunk 1 may be delayed by a W that does not fit before it
  bool fill_forward = true;   // a forward may
};

struct PendingWeightGrad {
  std::int32_t chunk = 0, micro_batch = 0;
};

struct Rank {
  std::int32_t counts[5] = {0, 0, 0, 0, 0};
  std::vector<PendingWeightGrad> pending;  // a queue read from counts[weight_grad]
  Ticks clock = 0;
  Ticks idle = 0;  // waiting after the first pass
  std::int64_t memory = 0;
  bool has_pending() const { return counts[weight_grad] < static_cast<std::int32_t>(pending.size()); }
  std::int32_t forwards() const { return counts[forward_0] + counts[forward_1]; }
};

class Search {
 public:
  Search(const PipelineShape& shape, const StageTicks& ticks, const ActivationLimit& limit, Switches switches,
         std::vector<Ticks> idle_before)
      : p_(shape.ranks),
        m_(shape.micro_batches),
        limit_(limit),
        switches_(switches),
        ticks_(ticks),
        idle_before_(std::move(idle_before)) {
    const auto ranks = static_cast<std::size_t>(p_);
    const auto passes = static_cast<std::size_t>(m_);
    if (!idle_before_.empty()) most_idle_before_ = *std::max_element(idle_before_.begin(), idle_before_.end());
    ranks_.resize(ranks);
    for (auto& ends : ends_) ends.resize(ranks * passes);
    programs_.resize(ranks);
    for (std::size_t j = 0; j < ranks; ++j) {
      ranks_[j].pending.reserve(2 * passes);
      programs_[j].reserve(6 * passes);
    }
  }

  /// False if the memory limit leaves no order.
  bool run() {
    if (!warm_up()) return false;
    for (std::int32_t k = 0; k < 2 * m_; ++k) {
      if (!backward_round() || !forward_round()) return false;
    }
    for (std::int32_t j = 0; j < p_; ++j) {
      while (rank(j).has_pending()) put_weight_grad(j);
    }
    return true;
  }
  Ticks most_idle() const { return most_idle_; }
  std::vector<Ticks> idle() const {
    std::vector<Ticks> result;
    for (const Rank& of : ranks_) result.push_back(of.idle);
    return result;
  }
  std::vector<std::vector<Op>>& programs() { return programs_; }

 private:
  Rank& rank(std::int32_t j) { return ranks_[static_cast<std::size_t>(j)]; }
  const Rank& rank(std::int32_t j) const { return ranks_[static_cast<std::size_t>(j)]; }
  std::size_t at(std::int32_t j, std::int32_t i) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(m_) + static_cast<std::size_t>(i);
  }
  std::int32_t stage(std::int32_t j, std::int32_t chunk) const { return chunk == 0 ? j : 2 * p_ - 1 - j; }

  /// The rank whose pass of the same kind gives the input; none where the input is local.
  std::optional<std::int32_t> giver(std::int32_t j, Pass pass) const {
    const bool from_below = pass == forward_0 || pass == input_grad_1;
    if (from_below) return j > 0 ? std::optional(j - 1) : std::nullopt;
    return j < p_ - 1 ? std::optional(j + 1) : std::nullopt;
  }
  bool input_exists(std::int32_t j, Pass pass) const {
    const auto from = giver(j, pass);
    return !from || rank(*from).counts[pass] > rank(j).counts[pass];
  }
  Ticks arrival(std::int32_t j, Pass pass) const {
    const auto from = giver(j, pass);
    return from ? ends_[pass][at(*from, rank(j).counts[pass])] + ticks_.send : 0;
  }

  void run_op(std::int32_t j, OpKind kind, std::int32_t chunk, std::int32_t i, Ticks input, Ticks duration) {
    Rank& of = rank(j);
    const Ticks start = std::max(of.clock, input);
    if (of.counts[forward_0] > 0) {
      of.idle += start - of.clock;
      most_idle_ = std::max(most_idle_, of.idle);
    }
    of.clock = start + duration;
    programs_[static_cast<std::size_t>(j)].push_back(compute_op(kind, stage(j, chunk), i));
  }
  void put(std::int32_t j, Pass pass) {
    const bool is_forward = pass == forward_0 || pass == forward_1;
    const std::int32_t chunk = pass == forward_0 || pass == input_grad_0 ? 0 : 1;
    const std::int32_t i = rank(j).counts[pass];
    const auto of_stage = static_cast<std::size_t>(stage(j, chunk));
    run_op(j, is_forward ? OpKind::forward : OpKind::input_grad, chunk, i, arrival(j, pass),
           is_forward ? ticks_.forward[of_stage] : ticks_.input_grad[of_stage]);
    ends_[pass][at(j, i)] = rank(j).clock;
    ++rank(j).counts[pass];
    if (!is_forward) rank(j).pending.push_back({chunk, i});
    rank(j).memory += is_forward ? ActivationLimit::whole : -limit_.freed_by_input_grad();
  }
  Ticks weight_grad_ticks(std::int32_t j) const {
    const Rank& of = rank(j);
    const PendingWeightGrad& next = of.pending[static_cast<std::size_t>(of.counts[weight_grad])];
    return ticks_.weight_grad[static_cast<std::size_t>(stage(j, next.chunk))];
  }
  void put_weight_grad(std::int32_t j) {
    Rank& of = rank(j);
    const PendingWeightGrad next = of.pending[static_cast<std::size_t>(of.counts[weight_grad])];
    run_op(j, OpKind::weight_grad, next.chunk, next.micro_batch, 0, weight_grad_ticks(j));
    ++of.counts[weight_grad];
    of.memory -= limit_.kept;
  }
  bool fits_forwards(const Rank& of, std::int64_t count) const {
    return of.memory + count * ActivationLimit::whole <= limit_.most;
  }

  /// Uses the wait for an input from another rank for pending weight gradients; the last may reach beyond the wait if
  /// `may_delay` and the rank has been idle less than others.
  void fill(std::int32_t j, Pass pass, bool may_delay) {
    if (!giver(j, pass)) return;
    const Ticks input = arrival(j, pass);
    Rank& of = rank(j);
    while (of.has_pending() && of.clock + weight_grad_ticks(j) <= input) put_weight_grad(j);
    if (!may_delay || !of.has_pending()) return;
    const Ticks idle_gap = idle_before_.empty() ? 0 : most_idle_before_ - idle_before_[static_cast<std::size_t>(j)];
    if (input - of.clock > std::max(most_idle_, idle_gap) - of.idle) put_weight_grad(j);
  }

  bool warm_up() {
    for (std::int32_t j = 0; j < p_; ++j) put(j, forward_0);
    for (std::int32_t j = p_ - 1; j >= 0; --j) {
      if (j < p_ - 1) {
        const Ticks input = ends_[forward_1][at(j + 1, 0)] + ticks_.send;
        while (fits_forwards(rank(j), 2 + 2 * j) && rank(j).counts[forward_0] < m_ &&
               rank(j).clock + ticks_.forward[static_cast<std::size_t>(j)] <= input) {
          for (std::int32_t k = 0; k <= j; ++k) put(k, forward_0);
        }
      }
      put(j, forward_1);
    }
    Pass next = forward_0;
    for (std::int32_t j = 1; j < p_; ++j) {
      while (rank(j).forwards() < rank(j - 1).forwards() ||
             (rank(j).counts[forward_1] <= rank(j - 1).counts[forward_1] && rank(j - 1).counts[forward_1] < m_)) {
        for (std::int32_t k = p_ - 1; k >= j; --k) {
          if (rank(k).counts[next] == m_) continue;
          if (!input_exists(k, next)) return false;
          put(k, next);
        }
        next = next == forward_0 ? forward_1 : forward_0;
      }
    }
    return true;
  }

  bool backward_round() {
    picks_.clear();
    for (std::int32_t j = 0; j < p_; ++j) {
      const std::int32_t ahead = rank(j).counts[input_grad_1] - rank(j).counts[input_grad_0];
      const bool outer =
          ahead > 0 && (j == p_ - 1 || input_exists(j, input_grad_0) || rank(j).counts[input_grad_1] == m_);
      picks_.push_back(outer ? input_grad_0 : input_grad_1);
    }
    for (std::int32_t j = p_ - 1; j >= 0; --j) {
      if (picks_[static_cast<std::size_t>(j)] != input_grad_0) continue;
      if (!input_exists(j, input_grad_0)) return false;
      fill(j, input_grad_0, true);
      put(j, input_grad_0);
    }
    for (std::int32_t j = 0; j < p_; ++j) {
      if (picks_[static_cast<std::size_t>(j)] != input_grad_1) continue;
      if (!input_exists(j, input_grad_1)) return false;
      fill(j, input_grad_1, switches_.fill_backward);
      put(j, input_grad_1);
    }
    return true;
  }

  bool forward_round() {
    for (std::int32_t j = 0; j < p_; ++j) {
      const Rank& of = rank(j);
      if (of.counts[forward_1] == m_) continue;
      Pass pass = forward_0;
      if (of.counts[forward_1] < of.counts[forward_0]) {
        if (input_exists(j, forward_1)) {
          pass = forward_1;
        } else if (of.counts[forward_0] == m_ || !input_exists(j, forward_0)) {
          continue;
        }
      }
      if (!input_exists(j, pass)) return false;
      while (!fits_forwards(of, 1)) {
        if (!of.has_pending()) return false;
        put_weight_grad(j);
      }
      fill(j, pass, switches_.fill_forward);
      put(j, pass);
    }
    return true;
  }

  std::int32_t p_, m_;
  const ActivationLimit& limit_;
  Switches switches_;
  const StageTicks& ticks_;
  std::vector<Ticks> idle_before_;  // of the previous try
  Ticks most_idle_before_ = 0, most_idle_ = 0;
  std::vector<Rank> ranks_;
  std::vector<Ticks> ends_[4];
  std::vector<Pass> picks_;
  std::vector<std::vector<Op>> programs_;
};

}  // namespace

Schedule generate_zbv_auto(const PipelineShape& shape, const StageTimes& times, const ActivationLimit& limit) {
  const StageTicks ticks = stage_ticks(times, shape);
  Schedule schedule = empty_schedule("zbv-auto", shape, {v_map(shape.ranks)}, 0);
  std::optional<Ticks> best;
  for (const bool fill_backward : {true, false}) {
    for (const bool fill_forward : {true, false}) {
      std::vector<Ticks> idle_before;
      std::optional<Ticks> best_here;
      for (;;) {
        Search search(shape, ticks, limit, {fill_backward, fill_forward}, idle_before);
        if (!search.run()) break;
        const Ticks value = search.most_idle();
        const bool better = !best_here || value < *best_here;
        if (better) best_here = value;
        if (!best || value < *best) {
          best = value;
          schedule.programs = std::move(search.programs());
        }
        if (!better) break;
        idle_before = search.idle();
      }
    }
  }
  // The fixed order keeps within the least limit, so it answers where no searched order does.
  if (!best) schedule.programs = generate_zbv(shape).programs;
  return schedule;
}

}  // namespace stagecraft

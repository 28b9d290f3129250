// Heuristic search over the order of F, I and W (arXiv 2401.10241, section 3.1;
// sail-sg/zero-bubble-pipeline-parallelism, zb.py). Eight variants are built and the one with the shortest span is
// kept.

#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"
#include "schedule/stage_ticks.hpp"

namespace stagecraft {

namespace {

using Ticks = std::int64_t;

struct Switches {
  bool gap_before_backward = true;  // the warm-up may delay the first I
  bool prefer_backward = true;
  bool greedy_fill = true;
};

struct Rank {
  std::int32_t forwards = 0, input_grads = 0, weight_grads = 0;
  Ticks clock = 0;
  Ticks idle = 0;   // waiting after the first forward
  Ticks begin = 0;  // of the first forward
  std::int64_t memory = 0;
  bool has_pending() const { return weight_grads < input_grads; }
};

class Search {
 public:
  Search(const PipelineShape& shape, const StageTicks& ticks, const ActivationLimit& limit, Switches switches)
      : p_(shape.ranks), m_(shape.micro_batches), limit_(limit), switches_(switches), ticks_(ticks) {
    const auto ranks = static_cast<std::size_t>(p_);
    ranks_.resize(ranks);
    forward_end_.resize(ranks * static_cast<std::size_t>(m_));
    input_grad_end_.resize(ranks * static_cast<std::size_t>(m_));
    programs_.resize(ranks);
    for (auto& program : programs_) program.reserve(3 * static_cast<std::size_t>(m_));
  }

  /// Largest (end of the last W - start of the first F) over the ranks.
  Ticks run() {
    warm_up();
    for (std::int32_t i = 1; i < m_; ++i) round();
    Ticks span = 0;
    for (std::int32_t j = 0; j < p_; ++j) {
      while (rank(j).weight_grads < m_) weight_grad(j);
      span = std::max(span, rank(j).clock - rank(j).begin);
    }
    return span;
  }
  std::vector<std::vector<Op>>& programs() { return programs_; }

 private:
  Rank& rank(std::int32_t j) { return ranks_[static_cast<std::size_t>(j)]; }
  Ticks forward_ticks(std::int32_t j) const { return ticks_.forward[static_cast<std::size_t>(j)]; }
  Ticks input_grad_ticks(std::int32_t j) const { return ticks_.input_grad[static_cast<std::size_t>(j)]; }
  Ticks weight_grad_ticks(std::int32_t j) const { return ticks_.weight_grad[static_cast<std::size_t>(j)]; }
  std::size_t at(std::int32_t j, std::int32_t i) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(m_) + static_cast<std::size_t>(i);
  }

  void put(std::int32_t j, OpKind kind, std::int32_t i, Ticks arrival, Ticks duration) {
    Rank& of = rank(j);
    const Ticks start = std::max(of.clock, arrival);
    if (of.forwards > 0) {
      of.idle += start - of.clock;
      most_idle_ = std::max(most_idle_, of.idle);
    } else {
      of.begin = start;
    }
    of.clock = start + duration;
    programs_[static_cast<std::size_t>(j)].push_back(compute_op(kind, j, i));
  }
  Ticks forward_arrival(std::int32_t j) { return j == 0 ? 0 : forward_end_[at(j - 1, rank(j).forwards)] + ticks_.send; }
  Ticks input_grad_arrival(std::int32_t j) {
    return j == p_ - 1 ? 0 : input_grad_end_[at(j + 1, rank(j).input_grads)] + ticks_.send;
  }
  void forward(std::int32_t j) {
    const std::int32_t i = rank(j).forwards;
    put(j, OpKind::forward, i, forward_arrival(j), forward_ticks(j));
    forward_end_[at(j, i)] = rank(j).clock;
    ++rank(j).forwards;
    rank(j).memory += ActivationLimit::whole;
  }
  void input_grad(std::int32_t j) {
    const std::int32_t i = rank(j).input_grads;
    put(j, OpKind::input_grad, i, input_grad_arrival(j), input_grad_ticks(j));
    input_grad_end_[at(j, i)] = rank(j).clock;
    ++rank(j).input_grads;
    rank(j).memory -= limit_.freed_by_input_grad();
  }
  void weight_grad(std::int32_t j) {
    put(j, OpKind::weight_grad, rank(j).weight_grads++, 0, weight_grad_ticks(j));
    rank(j).memory -= limit_.kept;
  }
  bool fits_forward(std::int64_t memory) const { return memory + ActivationLimit::whole <= limit_.most; }

  /// Uses the wait until `arrival` for pending weight gradients.
  void fill(std::int32_t j, Ticks arrival) {
    Rank& of = rank(j);
    while (of.has_pending() && of.clock + weight_grad_ticks(j) <= arrival) weight_grad(j);
    if (!of.has_pending() || of.clock >= arrival) return;
    if (switches_.greedy_fill || arrival - of.clock > most_idle_ - of.idle) weight_grad(j);
  }

  void warm_up() {
    for (std::int32_t j = 0; j < p_; ++j) forward(j);
    std::vector<std::int32_t> extra(static_cast<std::size_t>(p_), 0);
    Ticks gradient = rank(p_ - 1).clock + input_grad_ticks(p_ - 1);  // end of I(0) on the rank after j
    for (std::int32_t j = p_ - 2; j >= 0; --j) {
      std::int32_t& more = extra[static_cast<std::size_t>(j)];
      Ticks clock = rank(j).clock;
      while (1 + more < m_ && fits_forward((1 + more) * ActivationLimit::whole)) {
        const Ticks arrival = gradient + ticks_.send;
        if (switches_.gap_before_backward ? clock + forward_ticks(j) > arrival : clock >= arrival) break;
        ++more;
        clock += forward_ticks(j);
      }
      gradient = std::max(clock, gradient + ticks_.send) + input_grad_ticks(j);
    }
    for (std::size_t j = 1; j < extra.size(); ++j) {
      // Fewer than the rank before, whose forwards are the input; the same number only if those are all there are.
      while (extra[j] > 0 && (extra[j] > extra[j - 1] || (extra[j] == extra[j - 1] && 1 + extra[j] < m_))) --extra[j];
    }
    for (std::int32_t j = 0; j < p_; ++j) {
      for (std::int32_t k = 0; k < extra[static_cast<std::size_t>(j)]; ++k) forward(j);
    }
    for (std::int32_t j = p_ - 1; j >= 0; --j) input_grad(j);
  }

  /// Whether rank j runs a forward before its next input gradient.
  bool wants_forward(std::int32_t j) {
    const Rank& of = rank(j);
    if (of.forwards == m_) return false;
    if (!switches_.prefer_backward || j == p_ - 1 || of.forwards < rank(j + 1).forwards + 2) return true;
    const Ticks gradient = rank(j + 1).clock + forward_ticks(j + 1) + input_grad_ticks(j + 1) + ticks_.send;
    if (of.clock >= gradient) return false;
    Ticks freeing = 0;  // weight gradients before the forward fits
    for (std::int64_t memory = of.memory; limit_.kept > 0 && !fits_forward(memory); memory -= limit_.kept) {
      freeing += weight_grad_ticks(j);
    }
    if (of.clock + forward_ticks(j) + freeing <= gradient) return true;
    return gradient - of.clock > most_idle_ - of.idle;
  }

  /// One forward where wanted, up the ranks, then one input gradient down the ranks.
  void round() {
    std::int32_t first = p_;  // a rank runs a forward only if all later ranks do
    while (first > 0 && wants_forward(first - 1)) --first;
    for (std::int32_t j = first; j < p_; ++j) {
      while (!fits_forward(rank(j).memory)) weight_grad(j);
      if (j > 0) fill(j, forward_arrival(j));
      forward(j);
    }
    for (std::int32_t j = p_ - 1; j >= 0; --j) {
      if (j < p_ - 1) fill(j, input_grad_arrival(j));
      while (j == 0 && rank(j).forwards == m_ && rank(j).has_pending()) weight_grad(j);
      input_grad(j);
    }
  }

  std::int32_t p_, m_;
  const ActivationLimit& limit_;
  Switches switches_;
  const StageTicks& ticks_;
  std::vector<Rank> ranks_;
  Ticks most_idle_ = 0;
  std::vector<Ticks> forward_end_, input_grad_end_;
  std::vector<std::vector<Op>> programs_;
};

}  // namespace

Schedule generate_zb_auto(const PipelineShape& shape, const StageTimes& times, const ActivationLimit& limit) {
  const StageTicks ticks = stage_ticks(times, shape);
  Schedule schedule = empty_schedule("zb-auto", shape, {loop_map(shape.ranks, 1)}, 0);
  Ticks best = -1;
  for (const bool gap : {true, false}) {
    for (const bool backward : {true, false}) {
      for (const bool greedy : {true, false}) {
        Search search(shape, ticks, limit, {gap, backward, greedy});
        const Ticks span = search.run();
        if (best >= 0 && span >= best) continue;
        best = span;
        schedule.programs = std::move(search.programs());
      }
    }
  }
  return schedule;
}

}  // namespace stagecraft

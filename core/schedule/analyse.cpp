#include "schedule/analyse.hpp"

#include <algorithm>

namespace stagecraft {

namespace {

constexpr double not_there = -1;

class Replayer {
 public:
  Replayer(const Schedule& schedule, const StageTimes& times)
      : schedule_(schedule), times_(times), stages_(static_cast<std::size_t>(stage_count(schedule))) {
    const std::size_t passes = stages_ * micro_batches();
    forward_end_.assign(passes, not_there);
    gradient_end_.assign(passes, not_there);
    const std::size_t ranks = schedule.programs.size();
    next_.assign(ranks, 0);
    clock_.assign(ranks, 0);
    queued_.assign(ranks, true);
    result_.ranks.resize(ranks);
    for (const auto& program : schedule.programs) result_.spans.emplace_back(program.size());
    for (const auto* of : {&times.forward, &times.input_grad, &times.weight_grad, &times.pair}) {
      auto& per_stage = durations_.emplace_back();
      if (of == &times.pair && of->empty()) continue;
      for (std::size_t s = 0; s < stages_; ++s) per_stage.push_back(time_of_stage(*of, s, schedule.shape.chunks));
    }
  }

  Analysis run() {
    std::vector<std::size_t> waiting(schedule_.programs.size());
    for (std::size_t r = 0; r < waiting.size(); ++r) waiting[waiting.size() - 1 - r] = r;
    while (!waiting.empty()) {
      const std::size_t rank = waiting.back();
      waiting.pop_back();
      queued_[rank] = false;
      while (advance(rank)) {
        for (const std::size_t fed : fed_) {
          if (queued_[fed]) continue;
          queued_[fed] = true;
          waiting.push_back(fed);
        }
      }
    }
    summarise();
    return std::move(result_);
  }

 private:
  std::size_t micro_batches() const { return static_cast<std::size_t>(schedule_.shape.micro_batches); }
  std::size_t at(std::size_t stage, const Op& op) const { return stage * micro_batches() + op.micro_batch.index(); }
  double delay(std::size_t stage, const Op& op, std::size_t rank) const {
    return rank_of(schedule_, Stage(stage), op.replica).index() == rank ? 0 : times_.send;
  }

  /// When the input of the operation is there; not_there if it is not scheduled yet.
  double input(const Op& op, std::size_t rank) const {
    const std::size_t stage = op.stage.index();
    switch (op.kind) {
      case OpKind::forward: {
        if (stage == 0) return 0;
        const double end = forward_end_[at(stage - 1, op)];
        return end < 0 ? end : end + delay(stage - 1, op, rank);
      }
      case OpKind::recompute:
      case OpKind::backward:
      case OpKind::input_grad: {
        const double own = forward_end_[at(stage, op)];
        if (own < 0 || stage + 1 == stages_) return own;
        const double later = gradient_end_[at(stage + 1, op)];
        return later < 0 ? later : std::max(own, later + delay(stage + 1, op, rank));
      }
      case OpKind::weight_grad:
        return gradient_end_[at(stage, op)];
      default:
        return 0;
    }
  }

  double duration(const Op& op) const {
    const auto of = [&](std::size_t what) { return durations_[what][op.stage.index()]; };
    switch (op.kind) {
      case OpKind::forward:
      case OpKind::recompute:
        return of(0);
      case OpKind::backward:
        return of(1) + of(2);
      case OpKind::input_grad:
        return of(1);
      case OpKind::weight_grad:
        return of(2);
      default:
        return 0;
    }
  }

  /// Runs the next operation of a rank, or pair, if its input is there. Leaves in `fed_` the other ranks that it feeds.
  bool advance(std::size_t rank) {
    fed_.clear();
    const auto& program = schedule_.programs[rank];
    const std::size_t position = next_[rank];
    if (position == program.size()) return false;
    const Op& op = program[position];
    const bool block = op.overlaps_next && !durations_[3].empty() && position + 1 < program.size();
    double ready = input(op, rank);
    if (block && ready >= 0) {
      const double second = input(program[position + 1], rank);
      ready = second < 0 ? second : std::max(ready, second);
    }
    if (ready < 0) return false;
    const double start = std::max(clock_[rank], ready);
    const double takes = block ? durations_[3][op.stage.index()] : duration(op);
    finish(op, rank, position, {start, start + takes});
    if (block) finish(program[position + 1], rank, position + 1, {start, start + takes});
    clock_[rank] = start + takes;
    result_.ranks[rank].busy += takes;
    next_[rank] += block ? 2 : 1;
    return true;
  }

  void finish(const Op& op, std::size_t rank, std::size_t position, OpSpan span) {
    result_.spans[rank][position] = span;
    const std::size_t stage = op.stage.index();
    const bool forward = op.kind == OpKind::forward;
    if (!forward && op.kind != OpKind::backward && op.kind != OpKind::input_grad) return;
    (forward ? forward_end_ : gradient_end_)[at(stage, op)] = span.end;
    if (forward ? stage + 1 == stages_ : stage == 0) return;
    const std::size_t to = rank_of(schedule_, Stage(forward ? stage + 1 : stage - 1), op.replica).index();
    if (to == rank) return;
    fed_.push_back(to);
    ++result_.messages;
  }

  void summarise() {
    for (std::size_t r = 0; r < schedule_.programs.size(); ++r) {
      RankAnalysis& rank = result_.ranks[r];
      result_.complete = result_.complete && next_[r] == schedule_.programs[r].size();
      rank.last_end = clock_[r];
      const auto& spans = result_.spans[r];
      const auto first =
          std::find_if(spans.begin(), spans.end(), [](const OpSpan& span) { return span.end > span.start; });
      if (first != spans.end()) rank.first_start = first->start;
      result_.makespan = std::max(result_.makespan, rank.last_end);
      result_.span = std::max(result_.span, rank.last_end - rank.first_start);
      result_.most_busy = std::max(result_.most_busy, rank.busy);
      count_activations(schedule_.programs[r], rank);
    }
  }

  void count_activations(const std::vector<Op>& program, RankAnalysis& rank) const {
    std::int64_t alive = 0, alive_until_input_grad = 0, peak = 0, peak_until_input_grad = 0;
    for (const Op& op : program) {
      if (op.kind == OpKind::forward) ++alive, ++alive_until_input_grad;
      peak = std::max(peak, alive);
      peak_until_input_grad = std::max(peak_until_input_grad, alive_until_input_grad);
      if (op.kind == OpKind::backward || op.kind == OpKind::weight_grad) --alive;
      if (op.kind == OpKind::backward || op.kind == OpKind::input_grad) --alive_until_input_grad;
    }
    const double chunks = schedule_.shape.chunks;
    rank.peak_activations = static_cast<double>(peak) / chunks;
    rank.peak_freed_at_input_grad = static_cast<double>(peak_until_input_grad) / chunks;
  }

  const Schedule& schedule_;
  const StageTimes& times_;
  std::size_t stages_;
  std::vector<std::vector<double>> durations_;      // forward, input_grad, weight_grad, pair: [stage]
  std::vector<double> forward_end_, gradient_end_;  // [stage * m + micro-batch]
  std::vector<std::size_t> next_;
  std::vector<double> clock_;
  std::vector<bool> queued_;
  std::vector<std::size_t> fed_;
  Analysis result_;
};

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

double makespan_bubble_rate(const Analysis& a) {
  return share(makespan_bubble(a), a.makespan);
}

double span_bubble_rate(const Analysis& a) {
  return share(span_bubble(a), a.span);
}

Analysis analyse(const Schedule& schedule, const StageTimes& times) {
  return Replayer(schedule, times).run();
}

}  // namespace stagecraft

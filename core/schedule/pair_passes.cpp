#include "schedule/pair_passes.hpp"

#include "schedule/graph.hpp"

namespace stagecraft {
namespace {

bool is_pass(OpKind kind) {
  return kind == OpKind::forward || kind == OpKind::backward || kind == OpKind::input_grad;
}

/// What of a schedule is computed, and where each of it stands in the program.
struct Computation {
  Schedule schedule;
  std::vector<std::vector<std::uint32_t>> place;  // [rank][position]
};

Computation computation_of(const Schedule& schedule) {
  Computation found;
  found.schedule.shape = schedule.shape;
  found.schedule.placement = schedule.placement;
  found.schedule.optimizer_sync = schedule.optimizer_sync;
  found.schedule.programs.resize(schedule.programs.size());
  found.place.resize(schedule.programs.size());
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const std::vector<Op>& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (!is_compute(program[i].kind) || !has_micro_batch(program[i].kind)) continue;
      found.schedule.programs[r].push_back(program[i]);
      found.schedule.programs[r].back().channel = ChannelId();
      found.place[r].push_back(static_cast<std::uint32_t>(i));
    }
  }
  return found;
}

/// Walks from pass to pass along what they wait for, on other ranks.
class Dependencies {
 public:
  explicit Dependencies(const Schedule& schedule) : graph_(make_graph(schedule)) {
    order_.resize(node_count(graph_));
    for (std::uint32_t i = 0; i < graph_.order.size(); ++i) order_[graph_.order[i]] = i;
    visited_.assign(order_.size(), 0);
  }

  /// Whether what stands at `later` of a rank waits for what stands at `earlier` beside the order of the program.
  bool waits(std::size_t rank, std::size_t earlier, std::size_t later) {
    const auto node = [&](std::size_t position) {
      return graph_.first_of_rank[rank] + static_cast<std::uint32_t>(position);
    };
    const std::uint32_t from = node(earlier), to = node(later);
    const auto in_program = [&](std::uint32_t n) { return n > from && n <= to; };
    ++walk_;
    open_.clear();
    for (const std::uint32_t next : successors_of(graph_, from)) {
      if (!in_program(next)) visit(next, to);
    }
    while (!open_.empty()) {
      const std::uint32_t at = open_.back();
      open_.pop_back();
      for (const std::uint32_t next : successors_of(graph_, at)) {
        if (in_program(next)) return true;
        visit(next, to);
      }
    }
    return false;
  }

 private:
  void visit(std::uint32_t node, std::uint32_t to) {
    if (order_[node] > order_[to] || visited_[node] == walk_) return;
    visited_[node] = walk_;
    open_.push_back(node);
  }

  Graph graph_;
  std::vector<std::uint32_t> order_, visited_, open_;
  std::uint32_t walk_ = 0;
};

bool may_run_together(const Op& a, const Op& b, std::int32_t per_drain) {
  const bool opposite = (a.kind == OpKind::forward) != (b.kind == OpKind::forward);
  const bool same = a.micro_batch == b.micro_batch && a.replica == b.replica;
  return opposite && !same && a.micro_batch.value / per_drain == b.micro_batch.value / per_drain;
}

}  // namespace

std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> passes_together(const Schedule& schedule,
                                                                                  std::int32_t per_drain) {
  const Computation computation = computation_of(schedule);
  Dependencies dependencies(computation.schedule);
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs(schedule.programs.size());
  for (std::size_t r = 0; r < pairs.size(); ++r) {
    const std::vector<Op>& program = computation.schedule.programs[r];
    std::vector<std::size_t> passes;
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (is_pass(program[i].kind)) passes.push_back(i);
    }
    for (std::size_t i = 0; i + 1 < passes.size(); ++i) {
      const std::size_t earlier = passes[i], later = passes[i + 1];
      if (!may_run_together(program[earlier], program[later], per_drain)) continue;
      if (dependencies.waits(r, earlier, later)) continue;
      pairs[r].emplace_back(computation.place[r][earlier], computation.place[r][later]);
      ++i;
    }
  }
  return pairs;
}

}  // namespace stagecraft

#include "sim/player.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "sim/flow_network.hpp"
#include "sim/live_flows.hpp"

namespace stagecraft {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// An operation of one step and replica; also the index of its times.
using Token = std::uint64_t;

/// The seconds of an operation's current move are over, or its flow is if that is lone.
struct Event {
  double time = 0;
  std::uint64_t order = 0;  // events of one time happen in the order in which they were planned
  Token token = 0;
  LoneEnd flow_end;
};

bool later(const Event& a, const Event& b) {
  return a.time != b.time ? a.time > b.time : a.order > b.order;
}

class Player final : public FlowListener {
 public:
  Player(const Playbook& book, const Graph& graph, std::int32_t steps, FlowNetwork& network,
         std::vector<FlowStretch>* flows)
      : book_(book), graph_(graph), network_(network), live_(book, network, flows), nodes_(node_count(graph)) {
    per_step_ = nodes_ * static_cast<std::uint64_t>(book.replicas);
    const std::uint64_t tokens = per_step_ * static_cast<std::uint64_t>(steps);
    times_.begin_s.assign(tokens, 0);
    times_.end_s.assign(tokens, -1);
    index_across_steps();
    count_predecessors();
    move_of_.assign(tokens, 0);
    if (book.replicas > 1) arrived_.assign(nodes_ * static_cast<std::uint64_t>(steps), 0);
    for (Token token = 0; token < tokens; ++token) {
      if (waiting_[token] == 0) first_.push_back(token);
    }
  }

  void on_alarm() override {
    due_ = network_.now();
    alarm_ = never;
    if (!begun_) {
      begun_ = true;
      for (const Token token : first_) begin(token);
    }
    advance();
  }

  void on_flow_end(Token token) override {
    due_ = std::max(due_, network_.now());
    now_ = due_;
    live_.finish(current_move(token).path, token, now_);
    end_move(token);
    advance();
  }

  PlayedTimes take_times() {
    for (const double end : times_.end_s) {
      if (end < 0) throw std::logic_error("the schedule waits for itself; check_schedule names the cycle");
    }
    return std::move(times_);
  }

 private:
  std::uint64_t node_of(Token token) const { return token % nodes_; }
  const Work& work_of(Token token) const { return book_.works[book_.work_of[token % per_step_]]; }
  const Move& current_move(Token token) const { return book_.moves[work_of(token).first_move + move_of_[token]]; }

  void index_across_steps() {
    across_offsets_.assign(nodes_ + 1, 0);
    for (const Graph::Edge& edge : graph_.across_steps) ++across_offsets_[edge.from + 1];
    for (std::uint64_t node = 0; node < nodes_; ++node) across_offsets_[node + 1] += across_offsets_[node];
    across_.resize(graph_.across_steps.size());
    std::vector<std::uint32_t> next(across_offsets_.begin(), across_offsets_.end() - 1);
    for (const Graph::Edge& edge : graph_.across_steps) across_[next[edge.from]++] = edge.to;
  }

  void count_predecessors() {
    waiting_.resize(times_.end_s.size());
    for (Token token = 0; token < waiting_.size(); ++token) waiting_[token] = graph_.predecessor_counts[node_of(token)];
    for (Token first = per_step_; first < waiting_.size(); first += nodes_) {
      for (const std::uint32_t node : across_) ++waiting_[first + node];
    }
  }

  void begin(Token token) {
    if (work_of(token).joint) {
      const std::uint64_t step = token / per_step_;
      if (++arrived_[step * nodes_ + node_of(token)] < static_cast<std::uint32_t>(book_.replicas)) return;
      token = step * per_step_ + node_of(token);  // the first replica plays it for all
      for (Token other = token; other < (step + 1) * per_step_; other += nodes_) times_.begin_s[other] = now_;
    }
    times_.begin_s[token] = now_;
    begin_move(token);
  }

  void begin_move(Token token) {
    const Move& move = current_move(token);
    if (move.seconds > 0 || move.path >= 0) {
      plan({now_ + move.seconds, planned_++, token, {}});
    } else {
      end_move(token);
    }
  }

  void plan(const Event& event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), later);
  }

  void start_flow(Token token) {
    const Move& move = current_move(token);
    const LoneEnd end = live_.start(move.path, move.units, token, now_);
    if (end.lone) plan({end.time_s, planned_++, token, end});
  }

  void end_move(Token token) {
    if (++move_of_[token] < work_of(token).moves) {
      begin_move(token);
      return;
    }
    if (!work_of(token).joint) {
      end(token);
      return;
    }
    const Token step_end = (token / per_step_ + 1) * per_step_;
    for (Token other = token; other < step_end; other += nodes_) end(other);
  }

  /// Operations without duration may end in long chains, so they are queued instead of calling each other.
  void end(Token token) {
    times_.end_s[token] = now_;
    ended_.push_back(token);
    if (draining_) return;
    draining_ = true;
    while (!ended_.empty()) {
      const Token done = ended_.back();
      ended_.pop_back();
      release(done);
    }
    draining_ = false;
  }

  void release(Token token) {
    const std::uint64_t node = node_of(token);
    const Token base = token - node;
    for (const std::uint32_t next : successors_of(graph_, static_cast<std::uint32_t>(node))) {
      if (--waiting_[base + next] == 0) begin(base + next);
    }
    const Token next_base = base + per_step_;
    if (next_base >= waiting_.size()) return;
    for (std::uint32_t i = across_offsets_[node]; i < across_offsets_[node + 1]; ++i) {
      if (--waiting_[next_base + across_[i]] == 0) begin(next_base + across_[i]);
    }
  }

  /// Handles what is due. While SimGrid plays no flow its clock may stay behind: only a flow that meets another needs
  /// it.
  void advance() {
    while (!events_.empty()) {
      const Event next = events_.front();
      const bool over = next.flow_end.lone && !live_.still_lone(next.flow_end);
      const bool starts_flow = !next.flow_end.lone && current_move(next.token).path >= 0;
      const bool needs_clock =
          network_.live_flows() > 0 || (starts_flow && live_.has_company(current_move(next.token).path));
      if (!over && needs_clock && next.time > due_) {
        if (next.time < alarm_) {
          alarm_ = next.time;
          network_.set_alarm(alarm_);
        }
        return;
      }
      std::pop_heap(events_.begin(), events_.end(), later);
      events_.pop_back();
      if (over) continue;  // SimGrid has it now
      now_ = std::max(now_, next.time);
      if (starts_flow) {
        start_flow(next.token);
      } else if (next.flow_end.lone) {
        live_.finish_lone(next.flow_end);
        end_move(next.token);
      } else {
        end_move(next.token);
      }
    }
  }

  const Playbook& book_;
  const Graph& graph_;
  FlowNetwork& network_;
  LiveFlows live_;
  std::uint64_t nodes_, per_step_ = 0;
  std::vector<std::uint32_t> across_offsets_, across_;
  std::vector<std::uint32_t> waiting_;  // predecessors that have not ended
  std::vector<std::uint32_t> move_of_;
  std::vector<std::uint32_t> arrived_;  // replicas at a joint operation
  std::vector<Token> first_, ended_;
  std::vector<Event> events_;  // a heap, soonest first
  PlayedTimes times_;
  double now_ = 0, due_ = 0, alarm_ = never;
  std::uint64_t planned_ = 0;
  bool begun_ = false, draining_ = false;
};

}  // namespace

PlayedTimes play(const Playbook& book, const Graph& graph, std::int32_t steps,
                 const std::vector<std::string>& link_names, std::vector<FlowStretch>* flows) {
  FlowNetwork network;
  for (std::size_t link = 0; link < book.links.size(); ++link) {
    network.add_shared_link(link_names[link], book.links[link].rate);
  }
  for (const FlowPath& path : book.paths) network.add_path(path.cap, path.crossings);
  Player player(book, graph, steps, network, flows);
  network.run(player);
  return player.take_times();
}

}  // namespace stagecraft

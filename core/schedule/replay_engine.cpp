#include "schedule/replay_engine.hpp"

#include <utility>

#include "schedule/channel_table.hpp"
#include "schedule/send_receive.hpp"

namespace stagecraft {

namespace {

bool is_message(OpKind kind) {
  return is_send(kind) || is_receive(kind);
}

/// The rank at the other end of a message.
PipelineRank peer_of(const Schedule& schedule, const Op& op) {
  const std::size_t boundary = boundary_of(op);
  const bool from_below = boundary == op.stage.index();
  return schedule.placement[op.replica][from_below ? boundary + 1 : boundary];
}

/// Which of a rank's queues a message enters.
std::size_t queue_of(const Schedule& schedule, const Op& op, QueueGrouping grouping) {
  const std::size_t kind = carries_gradient(op.kind) ? 1 : 0, direction = is_send(op.kind) ? 1 : 0;
  switch (grouping) {
    case QueueGrouping::rank:
    case QueueGrouping::tag:
      return 0;
    case QueueGrouping::rank_and_kind:
      return kind;
    case QueueGrouping::peer:
      return peer_of(schedule, op).index();
    case QueueGrouping::edge:
      return peer_of(schedule, op).index() * 2 + direction;
    case QueueGrouping::edge_and_kind:
      return peer_of(schedule, op).index() * 4 + direction * 2 + kind;
  }
  return 0;
}

void link_queues(const Schedule& schedule, QueueGrouping grouping, ReplayState& state) {
  if (grouping == QueueGrouping::tag) return;
  const std::size_t queues = schedule.programs.size() * 4 + 2;
  std::vector<std::uint32_t> tail(queues, no_node);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const std::uint32_t first = state.first_of_rank[rank];
    std::uint32_t node = first;
    for (const Op& op : schedule.programs[rank]) {
      if (is_message(op.kind)) {
        auto& last = tail[queue_of(schedule, op, grouping)];
        if (last != no_node && last >= first) {  // else it belongs to a rank before
          state.previous[node] = last;
          state.next[last] = node;
        }
        last = node;
      }
      ++node;
    }
  }
}

void pair_by_tag(const Schedule& schedule, ReplayState& state) {
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    std::uint32_t node = state.first_of_rank[rank];
    for (const Op& op : schedule.programs[rank]) {
      if (is_send(op.kind)) {
        const bool activation = op.kind == OpKind::send_activation;
        const auto& other =
            state.table.at(Stage(op.stage.index() + (activation ? 1 : 0) - (activation ? 0 : 1)), op.micro_batch);
        const std::uint32_t receive = activation ? other.recv_activation : other.recv_gradient;
        state.mate[node] = receive;
        if (receive != no_node) state.mate[receive] = node;
      }
      ++node;
    }
  }
}

void pair_by_order(const Schedule& schedule, bool by_kind, ReplayState& state) {
  const ChannelTable table = make_channel_table(schedule, by_kind);
  // All sends of a channel lie on one rank, so that reading programs rank by rank keeps their order; the same for
  // receives.
  std::vector<std::uint32_t> begin(table.channels.size() + 1, 0);
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      if (is_send(op.kind)) ++begin[table.of(op).index() + 1];
    }
  }
  for (std::size_t c = 0; c + 1 < begin.size(); ++c) begin[c + 1] += begin[c];
  std::vector<std::uint32_t> sends(begin.back()), sent(begin.begin(), begin.end() - 1), received(sent);
  std::vector<const Op*> send_op(begin.back());
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    std::uint32_t node = state.first_of_rank[rank];
    for (const Op& op : schedule.programs[rank]) {
      if (is_send(op.kind)) {
        const std::uint32_t slot = sent[table.of(op).index()]++;
        sends[slot] = node;
        send_op[slot] = &op;
      }
      ++node;
    }
  }
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    std::uint32_t node = state.first_of_rank[rank];
    for (const Op& op : schedule.programs[rank]) {
      if (is_receive(op.kind)) {
        const std::size_t channel = table.of(op).index();
        const std::uint32_t slot = received[channel];
        if (slot < begin[channel + 1]) {
          ++received[channel];
          state.mate[node] = sends[slot];
          state.mate[sends[slot]] = node;
          const Op& send = *send_op[slot];
          const bool matches = send.micro_batch == op.micro_batch && boundary_of(send) == boundary_of(op) &&
                               carries_gradient(send.kind) == carries_gradient(op.kind);
          if (!matches && state.mispaired_send == no_node) state.mispaired_send = sends[slot];
        }
      }
      ++node;
    }
  }
}

class Engine {
 public:
  Engine(const Schedule& schedule, TransportModel transport, ReplayState& state)
      : schedule_(schedule), transport_(transport), state_(state), runnable_(schedule.programs.size(), 1) {}

  void run() {
    for (std::size_t rank = schedule_.programs.size(); rank-- > 0;) to_run_.push_back(rank);
    while (!to_run_.empty()) {
      const std::size_t rank = to_run_.back();
      to_run_.pop_back();
      runnable_[rank] = 0;
      advance(rank);
    }
  }

 private:
  const Op& op_of(std::uint32_t node, std::size_t rank) const {
    return schedule_.programs[rank][node - state_.first_of_rank[rank]];
  }
  bool at_head(std::uint32_t node) const {
    return state_.previous[node] == no_node || state_.done[state_.previous[node]] != 0;
  }
  bool can_leave(std::uint32_t node) const { return state_.posted[node] != 0 && at_head(node); }

  void wake_if_waiting_for(std::size_t rank, std::uint32_t node) {
    if (state_.waits_for[rank] != node || runnable_[rank] != 0) return;
    runnable_[rank] = 1;
    to_run_.push_back(rank);
  }

  void finish(std::uint32_t node, PipelineRank rank) {
    state_.done[node] = 1;
    wake_if_waiting_for(rank.index(), node);
    if (state_.next[node] != no_node) to_try_.push_back({state_.next[node], rank});
  }

  void settle() {
    while (!to_try_.empty()) {
      const auto [node, rank] = to_try_.back();
      to_try_.pop_back();
      if (state_.done[node] != 0 || !can_leave(node)) continue;
      const Op& op = op_of(node, rank.index());
      const std::uint32_t mate = state_.mate[node];
      const PipelineRank peer = peer_of(schedule_, op);
      if (transport_ == TransportModel::rendezvous) {
        if (mate == no_node || !can_leave(mate)) continue;
        finish(node, rank);
        finish(mate, peer);
      } else if (is_send(op.kind)) {
        finish(node, rank);
        if (mate != no_node) to_try_.push_back({mate, peer});
      } else if (mate != no_node && state_.done[mate] != 0) {
        finish(node, rank);
      }
    }
  }

  /// `node` if it has not ended, absent_node if there is no such node, no_node if it has ended.
  std::uint32_t unless_done(std::uint32_t node) const {
    if (node == no_node) return absent_node;
    return state_.done[node] == 0 ? node : no_node;
  }

  /// The first node that `op` still waits for, or no_node.
  std::uint32_t missing_input(const Op& op, std::size_t rank) const {
    if (!has_micro_batch(op.kind) || is_copy(op.kind)) return no_node;
    const auto& own = state_.table.at(op.stage, op.micro_batch);
    if (op.kind == OpKind::weight_grad) return unless_done(own.backward);
    if (op.kind != OpKind::forward) {
      if (const auto missing = unless_done(own.forward); missing != no_node) return missing;
    }
    const Neighbour source = source_of(schedule_, op);
    if (!source.exists) return no_node;
    const bool activation = op.kind == OpKind::forward;
    std::uint32_t input = no_node;
    if (source.rank.index() == rank || !schedule_.lowered) {
      const auto& other = state_.table.at(source.stage, op.micro_batch);
      input = activation ? other.forward : other.backward;
    } else {
      input = activation ? own.recv_activation : own.recv_gradient;
    }
    return unless_done(input);
  }

  void advance(std::size_t rank) {
    const auto& program = schedule_.programs[rank];
    const std::uint32_t first = state_.first_of_rank[rank];
    for (auto& i = state_.position[rank]; i < program.size(); ++i) {
      const Op& op = program[i];
      const std::uint32_t node = first + i;
      if (is_message(op.kind)) {
        state_.posted[node] = 1;
        to_try_.push_back({node, PipelineRank(rank)});
        settle();
        if (is_send(op.kind) && op.lane == Lane::compute && state_.done[node] == 0) {
          state_.waits_for[rank] = node;
          return;
        }
        continue;
      }
      const std::uint32_t missing = missing_input(op, rank);
      state_.waits_for[rank] = missing;
      if (missing != no_node) return;
      state_.done[node] = 1;
      if (schedule_.lowered) continue;
      const Neighbour target = target_of(schedule_, op);
      if (target.exists) wake_if_waiting_for(target.rank.index(), node);
    }
    state_.waits_for[rank] = no_node;
  }

  struct Try {
    std::uint32_t node;
    PipelineRank rank;
  };
  const Schedule& schedule_;
  TransportModel transport_;
  ReplayState& state_;
  std::vector<std::uint8_t> runnable_;  // is in to_run_
  std::vector<std::size_t> to_run_;
  std::vector<Try> to_try_;
};

}  // namespace

ReplayState run_replay(const Schedule& schedule, TransportModel transport, QueueGrouping grouping) {
  ReplayState state{.first_of_rank = {0},
                    .table = NodeTable(stage_count(schedule), schedule.shape.micro_batches),
                    .mate = {},
                    .previous = {},
                    .next = {},
                    .posted = {},
                    .done = {},
                    .position = std::vector<std::uint32_t>(schedule.programs.size(), 0),
                    .waits_for = std::vector<std::uint32_t>(schedule.programs.size(), no_node)};
  std::uint32_t node = 0;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) state.table.place(op, node++);
    state.first_of_rank.push_back(node);
  }
  state.mate.assign(node, no_node);
  state.previous.assign(node, no_node);
  state.next.assign(node, no_node);
  state.posted.assign(node, 0);
  state.done.assign(node, 0);
  if (schedule.lowered) {
    link_queues(schedule, grouping, state);
    if (grouping == QueueGrouping::tag) {
      pair_by_tag(schedule, state);
    } else {
      pair_by_order(schedule, grouping == QueueGrouping::rank_and_kind || grouping == QueueGrouping::edge_and_kind,
                    state);
    }
  }
  Engine(schedule, transport, state).run();
  return state;
}

bool all_done(const Schedule& schedule, const ReplayState& state) {
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    if (state.position[rank] < schedule.programs[rank].size()) return false;
  }
  return true;
}

}  // namespace stagecraft

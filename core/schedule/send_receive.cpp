#include "schedule/send_receive.hpp"

#include <bit>

#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

/// Which outputs exist, by (stage, micro-batch): a micro-batch runs in one replica only.
class Outputs {
 public:
  explicit Outputs(const Schedule& schedule)
      : micro_batches_(static_cast<std::size_t>(schedule.shape.micro_batches)),
        made_(static_cast<std::size_t>(stage_count(schedule)) * micro_batches_, 0) {}

  bool made(const Op& consumer, Stage by) const {
    return (made_[at(by, consumer.micro_batch)] & bit(consumer.kind)) != 0;
  }
  void mark(const Op& producer) { made_[at(producer.stage, producer.micro_batch)] |= bit(producer.kind); }

 private:
  std::size_t at(Stage stage, MicroBatch micro_batch) const {
    return stage.index() * micro_batches_ + micro_batch.index();
  }
  static std::uint8_t bit(OpKind kind) { return kind == OpKind::forward ? 1 : 2; }

  std::size_t micro_batches_;
  std::vector<std::uint8_t> made_;
};

/// A set of ranks that is emptied in ascending order.
class RankSet {
 public:
  explicit RankSet(std::size_t ranks) : words_((ranks + 63) / 64, 0) {}
  void insert(std::size_t rank) { words_[rank / 64] |= std::uint64_t{1} << (rank % 64); }
  void erase(std::size_t rank) { words_[rank / 64] &= ~(std::uint64_t{1} << (rank % 64)); }
  /// The least rank >= from, or `none`.
  std::size_t next(std::size_t from) const {
    for (std::size_t word = from / 64; word < words_.size(); ++word) {
      std::uint64_t bits = words_[word];
      if (word == from / 64) bits &= ~std::uint64_t{0} << (from % 64);
      if (bits != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    }
    return none;
  }
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

 private:
  std::vector<std::uint64_t> words_;
};

void push_sends(const Schedule& schedule, const Op* first, std::size_t count, bool overlap, std::vector<Op>& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const Neighbour target = target_of(schedule, first[i]);
    if (target.exists && target.rank != rank_of(schedule, first[i].stage, first[i].replica)) {
      out.push_back(send_of(first[i], overlap));
    }
  }
}

/// Receives right before the first operation that needs them, from `begin[rank]` on.
void place_before_consumers(const Schedule& schedule, bool overlap, const std::vector<std::size_t>& begin,
                            std::vector<std::vector<Op>>& out) {
  const auto micro_batches = static_cast<std::size_t>(schedule.shape.micro_batches);
  std::vector<std::uint8_t> received(static_cast<std::size_t>(stage_count(schedule)) * micro_batches, 0);
  const auto first_need = [&](const Op& op) {
    auto& cell = received[op.stage.index() * micro_batches + op.micro_batch.index()];
    const std::uint8_t bit = op.kind == OpKind::forward ? 1 : 2;
    const bool first = (cell & bit) == 0;
    cell |= bit;
    return first;
  };
  for (const auto& lowered : out) {
    for (const Op& op : lowered) {
      if (op.kind == OpKind::recv_activation) {
        received[op.stage.index() * micro_batches + op.micro_batch.index()] |= 1;
      } else if (op.kind == OpKind::recv_gradient) {
        received[op.stage.index() * micro_batches + op.micro_batch.index()] |= 2;
      }
    }
  }
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    const auto& program = schedule.programs[rank];
    for (std::size_t i = begin[rank]; i < program.size();) {
      const std::size_t count = program[i].overlaps_next && i + 1 < program.size() ? 2 : 1;
      for (std::size_t k = i; k < i + count; ++k) {
        const Neighbour source = source_of(schedule, program[k]);
        if (!source.exists || source.rank.index() == rank || !first_need(program[k])) continue;
        Op producer = program[k];
        producer.kind = producer.kind == OpKind::forward ? OpKind::forward : OpKind::backward;
        out[rank].push_back(receive_of(producer, program[k].stage, false));
      }
      for (std::size_t k = i; k < i + count; ++k) out[rank].push_back(program[k]);
      push_sends(schedule, &program[i], count, overlap, out[rank]);
      i += count;
    }
  }
}

/// PyTorch's order: rounds over the ranks, one action of each rank a round, in which a sender places its message's
/// receive in the receiver's program. A rank whose next action has no input yet sleeps until a sender wakes it; the
/// result is the same as asking it every round. Returns how far each rank came.
std::vector<std::size_t> place_at_senders(const Schedule& schedule, bool overlap, std::vector<std::vector<Op>>& out) {
  const auto& programs = schedule.programs;
  Outputs outputs(schedule);
  std::vector<std::size_t> position(programs.size(), 0);
  std::vector<std::uint8_t> asleep(programs.size(), 0);
  RankSet now(programs.size()), later(programs.size());
  bool any_later = false;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    if (!programs[rank].empty()) later.insert(rank), any_later = true;
  }
  while (any_later) {
    std::swap(now, later);
    any_later = false;
    for (std::size_t rank = now.next(0); rank != RankSet::none; rank = now.next(rank + 1)) {
      now.erase(rank);
      const auto& program = programs[rank];
      const std::size_t i = position[rank];
      const std::size_t count = program[i].overlaps_next && i + 1 < program.size() ? 2 : 1;
      bool ready = true;
      for (std::size_t k = i; k < i + count; ++k) {
        const Neighbour source = source_of(schedule, program[k]);
        ready = ready && (!source.exists || outputs.made(program[k], source.stage));
      }
      asleep[rank] = ready ? 0 : 1;
      if (!ready) continue;
      for (std::size_t k = i; k < i + count; ++k) out[rank].push_back(program[k]);
      for (std::size_t k = i; k < i + count; ++k) {
        const Op& op = program[k];
        if (op.kind != OpKind::forward && !makes_gradient(op.kind)) continue;
        outputs.mark(op);
        const Neighbour target = target_of(schedule, op);
        if (!target.exists || target.rank.index() == rank) continue;
        out[rank].push_back(send_of(op, overlap));
        out[target.rank.index()].push_back(receive_of(op, target.stage, true));
        if (asleep[target.rank.index()] == 0) continue;
        asleep[target.rank.index()] = 0;
        if (target.rank.index() > rank) {
          now.insert(target.rank.index());
        } else {
          later.insert(target.rank.index());
          any_later = true;
        }
      }
      position[rank] = i + count;
      if (position[rank] < program.size()) later.insert(rank), any_later = true;
    }
  }
  return position;
}

}  // namespace

Schedule add_send_receive(Schedule schedule, ReceivePlacement placement, bool overlap) {
  std::vector<std::vector<Op>> out(schedule.programs.size());
  for (std::size_t rank = 0; rank < out.size(); ++rank) out[rank].reserve(3 * schedule.programs[rank].size());
  std::vector<std::size_t> from(schedule.programs.size(), 0);
  bool complete = false;
  if (placement == ReceivePlacement::at_sender) {
    from = place_at_senders(schedule, overlap, out);
    complete = true;
    for (std::size_t rank = 0; rank < from.size(); ++rank) complete &= from[rank] == schedule.programs[rank].size();
  }
  if (!complete) place_before_consumers(schedule, overlap, from, out);
  schedule.programs = std::move(out);
  schedule.lowered = true;
  return schedule;
}

}  // namespace stagecraft

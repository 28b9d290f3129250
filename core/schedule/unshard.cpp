#include <algorithm>
#include <compare>

#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

Op data_op(OpKind kind, Stage stage, std::uint8_t replica) {
  Op op;
  op.kind = kind;
  op.lane = Lane::data;
  op.stage = stage;
  op.replica = replica;
  return op;
}

struct Held {
  Stage stage;
  std::uint8_t replica = 0;
  friend auto operator<=>(const Held&, const Held&) = default;
};

bool contains(const std::vector<Held>& held, const Held& wanted) {
  return std::find(held.begin(), held.end(), wanted) != held.end();
}

/// The next `count` distinct stages that compute at or after position `from`; one more if the last comes with its pair.
/// `next_other[i]` is the first position after i whose stage differs, so that runs of one stage cost one step.
void find_upcoming(const std::vector<Op>& program, const std::vector<std::size_t>& next_other, std::size_t from,
                   std::size_t count, std::vector<Held>& upcoming) {
  upcoming.clear();
  const auto add = [&](const Op& op) {
    const Held use{op.stage, op.replica};
    if (is_compute(op.kind) && !contains(upcoming, use)) upcoming.push_back(use);
  };
  for (std::size_t i = from; i < program.size() && upcoming.size() < count; i = next_other[i]) {
    add(program[i]);
    if (program[i].overlaps_next && i + 1 < program.size()) add(program[i + 1]);
  }
}

std::vector<std::size_t> find_next_other(const std::vector<Op>& program) {
  std::vector<std::size_t> next(program.size());
  for (std::size_t i = program.size(); i-- > 0;) {
    const bool same = i + 1 < program.size() && program[i + 1].stage == program[i].stage &&
                      program[i + 1].replica == program[i].replica &&
                      is_compute(program[i + 1].kind) == is_compute(program[i].kind);
    next[i] = same ? next[i + 1] : i + 1;
  }
  return next;
}

/// The stages that a rank computes with.
std::vector<Held> stages_of(const std::vector<Op>& program) {
  std::vector<Held> stages;
  for (const Op& op : program) {
    if (is_compute(op.kind) && !contains(stages, {op.stage, op.replica})) stages.push_back({op.stage, op.replica});
  }
  return stages;
}

}  // namespace

Schedule add_unshard(Schedule schedule, std::int32_t prefetch) {
  std::vector<Held> active, upcoming;
  for (auto& program : schedule.programs) {
    // A search for more stages than the rank holds would run to the end of the program each time.
    const auto wanted = std::min(stages_of(program).size(), static_cast<std::size_t>(std::max(prefetch, 1)));
    const auto next_other = find_next_other(program);
    std::vector<Op> out;
    out.reserve(2 * program.size());
    active.clear();
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (i > 0 && program[i - 1].overlaps_next) {  // a pair stays together
        out.push_back(program[i]);
        continue;
      }
      find_upcoming(program, next_other, i, wanted, upcoming);
      std::sort(active.begin(), active.end());
      for (const Held& held : active) {
        if (!contains(upcoming, held)) out.push_back(data_op(OpKind::reshard, held.stage, held.replica));
      }
      for (const Held& held : upcoming) {
        if (!contains(active, held)) out.push_back(data_op(OpKind::unshard, held.stage, held.replica));
      }
      active = upcoming;
      out.push_back(program[i]);
    }
    std::sort(active.begin(), active.end());
    for (const Held& held : active) out.push_back(data_op(OpKind::reshard, held.stage, held.replica));
    program = std::move(out);
  }
  return schedule;
}

}  // namespace stagecraft

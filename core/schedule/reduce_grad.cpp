#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

bool completes_gradient(OpKind kind) {
  return kind == OpKind::backward || kind == OpKind::weight_grad;
}

Op reduction(OpKind kind, const Op& of) {
  Op op;
  op.kind = kind;
  op.lane = Lane::data;
  op.stage = of.stage;
  op.replica = of.replica;
  return op;
}

/// After all compute, by ascending stage. A copy that ran no micro-batch takes part with zeros.
Schedule add_at_end(Schedule schedule) {
  for (std::int32_t s = 0; s < stage_count(schedule); ++s) {
    for (std::size_t replica = 0; replica < schedule.placement.size(); ++replica) {
      Op of;
      of.stage = Stage(s);
      of.replica = static_cast<std::uint8_t>(replica);
      schedule.programs[rank_of(schedule, of.stage, of.replica).index()].push_back(reduction(OpKind::reduce_grad, of));
    }
  }
  return schedule;
}

}  // namespace

Schedule add_reduce_grad(Schedule schedule, bool overlap) {
  if (!overlap || schedule.placement.size() > 1) return add_at_end(std::move(schedule));
  // seen_by[stage] == rank: the last W or B of the stage has been found.
  std::vector<std::int32_t> seen_by(static_cast<std::size_t>(stage_count(schedule)), -1);
  std::vector<std::size_t> last;  // positions of the last W or B of each stage, descending
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    auto& program = schedule.programs[rank];
    last.clear();
    for (std::size_t i = program.size(); i-- > 0;) {
      if (!completes_gradient(program[i].kind)) continue;
      auto& seen = seen_by[program[i].stage.index()];
      if (seen == static_cast<std::int32_t>(rank)) continue;
      seen = static_cast<std::int32_t>(rank);
      last.push_back(i);
    }
    std::vector<Op> out;
    out.reserve(program.size() + last.size());
    for (std::size_t i = 0; i < program.size(); ++i) {
      out.push_back(program[i]);
      if (last.empty() || i != last.back()) continue;
      out.push_back(reduction(OpKind::reduce_grad, program[i]));
      last.pop_back();
    }
    program = std::move(out);
  }
  return schedule;
}

Schedule add_reduce_tied(Schedule schedule) {
  if (stage_count(schedule) < 2) return schedule;
  const Stage first(0), last(stage_count(schedule) - 1);
  for (std::size_t copy = 0; copy < schedule.placement.size(); ++copy) {
    const auto replica = static_cast<std::uint8_t>(copy);
    const PipelineRank at_first = rank_of(schedule, first, replica), at_last = rank_of(schedule, last, replica);
    if (at_first == at_last) return schedule;
    for (const auto& [stage, rank] : {std::pair{first, at_first}, std::pair{last, at_last}}) {
      auto& program = schedule.programs[rank.index()];
      const bool present = !program.empty() && program.back().kind == OpKind::reduce_tied;
      if (present) continue;  // the other copy's embedding is added on the same rank first
      Op of;
      of.stage = stage;
      of.replica = replica;
      program.push_back(reduction(OpKind::reduce_tied, of));
    }
  }
  return schedule;
}

}  // namespace stagecraft

#include <algorithm>
#include <utility>

#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

Op copy_of(OpKind kind, const Op& of) {
  Op op;
  op.kind = kind;
  op.lane = Lane::copy;
  op.stage = of.stage;
  op.replica = of.replica;
  if (has_micro_batch(kind)) op.micro_batch = of.micro_batch;
  return op;
}

bool is_backward(OpKind kind) {
  return kind == OpKind::backward || kind == OpKind::input_grad;
}

/// What the gradient of a stage goes through before it is whole.
bool ends_gradient(OpKind kind) {
  return kind == OpKind::backward || kind == OpKind::weight_grad || kind == OpKind::reduce_grad ||
         kind == OpKind::reduce_tied;
}

using Held = std::pair<Stage, std::uint8_t>;  // stage and replica

/// Positions of the last operation on the gradient of each stage and replica, ascending.
std::vector<std::size_t> last_gradients(const std::vector<Op>& program) {
  std::vector<Held> seen;
  std::vector<std::size_t> last;
  for (std::size_t i = program.size(); i-- > 0;) {
    const Held held{program[i].stage, program[i].replica};
    if (!ends_gradient(program[i].kind) || std::find(seen.begin(), seen.end(), held) != seen.end()) continue;
    seen.push_back(held);
    last.push_back(i);
  }
  std::reverse(last.begin(), last.end());
  return last;
}

void add_reloads(const Schedule& schedule, std::size_t rank, std::vector<Op>& out) {
  for (std::int32_t s = 0; s < stage_count(schedule); ++s) {
    for (std::size_t replica = 0; replica < schedule.placement.size(); ++replica) {
      Op of;
      of.stage = Stage(s);
      of.replica = static_cast<std::uint8_t>(replica);
      if (rank_of(schedule, of.stage, of.replica).index() == rank) out.push_back(copy_of(OpKind::reload_param, of));
    }
  }
}

}  // namespace

Schedule add_activation_copies(Schedule schedule) {
  for (auto& program : schedule.programs) {
    std::vector<Op> out;
    out.reserve(2 * program.size());
    Op reloaded;  // for the recompute before the backward
    for (std::size_t i = 0; i < program.size();) {
      const std::size_t count = program[i].overlaps_next && i + 1 < program.size() ? 2 : 1;
      for (std::size_t k = i; k < i + count; ++k) {
        const Op& op = program[k];
        if (op.kind == OpKind::forward) out.push_back(copy_of(OpKind::offload, op));
        const bool again = is_backward(op.kind) && reloaded.kind == OpKind::reload && reloaded.stage == op.stage &&
                           reloaded.micro_batch == op.micro_batch;
        if (op.kind != OpKind::recompute && (!is_backward(op.kind) || again)) continue;
        reloaded = copy_of(OpKind::reload, op);
        out.push_back(reloaded);
      }
      for (std::size_t k = i; k < i + count; ++k) out.push_back(program[k]);  // a pair stays together
      i += count;
    }
    program = std::move(out);
  }
  return schedule;
}

Schedule add_optimizer_copies(Schedule schedule, bool parameters_stay) {
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    auto& program = schedule.programs[rank];
    const std::vector<std::size_t> last = last_gradients(program);
    std::vector<Op> out;
    out.reserve(program.size() + 2 * last.size());
    auto next = last.begin();
    for (std::size_t i = 0; i < program.size(); ++i) {
      out.push_back(program[i]);
      if (next != last.end() && *next == i) {
        out.push_back(copy_of(OpKind::offload_grad, program[i]));
        ++next;
      }
      if (program[i].kind == OpKind::optimizer_step && !parameters_stay) add_reloads(schedule, rank, out);
    }
    program = std::move(out);
  }
  return schedule;
}

Schedule add_parameter_copies(Schedule schedule) {
  for (auto& program : schedule.programs) {
    std::vector<Op> out;
    out.reserve(2 * program.size());
    for (const Op& op : program) {
      if (op.kind == OpKind::unshard) out.push_back(copy_of(OpKind::reload_param, op));
      out.push_back(op);
    }
    program = std::move(out);
  }
  return schedule;
}

}  // namespace stagecraft

#include "schedule/lower.hpp"

namespace stagecraft {

Schedule add_recompute(Schedule schedule) {
  for (auto& program : schedule.programs) {
    std::vector<Op> out;
    out.reserve(program.size() + program.size() / 2 + 1);
    for (const Op& op : program) {
      if (op.kind == OpKind::backward || op.kind == OpKind::input_grad) {
        Op again = op;
        again.kind = OpKind::recompute;
        again.overlaps_next = false;
        const bool in_pair = !out.empty() && out.back().overlaps_next;
        out.insert(in_pair ? out.end() - 1 : out.end(), again);
      }
      out.push_back(op);
    }
    program = std::move(out);
  }
  return schedule;
}

}  // namespace stagecraft

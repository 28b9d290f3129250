#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

bool are_halves_of_one_backward(const Op& a, const Op& b) {
  return a.kind == OpKind::input_grad && b.kind == OpKind::weight_grad && a.stage == b.stage &&
         a.micro_batch == b.micro_batch && a.replica == b.replica;
}

}  // namespace

Schedule fuse_backward(Schedule schedule) {
  for (auto& program : schedule.programs) {
    std::size_t kept = 0;
    for (const Op& op : program) {
      if (kept > 0 && are_halves_of_one_backward(program[kept - 1], op)) {
        program[kept - 1].kind = OpKind::backward;
      } else {
        program[kept++] = op;
      }
    }
    program.resize(kept);
  }
  return schedule;
}

}  // namespace stagecraft

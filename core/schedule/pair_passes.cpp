#include "schedule/pair_passes.hpp"

#include <vector>

namespace stagecraft {
namespace {

bool is_pass(OpKind kind) {
  return kind == OpKind::forward || kind == OpKind::backward || kind == OpKind::input_grad;
}

bool may_run_together(const Op& a, const Op& b) {
  const bool opposite = (a.kind == OpKind::forward) != (b.kind == OpKind::forward);
  return opposite && (a.micro_batch != b.micro_batch || a.stage != b.stage);
}

std::vector<Op*> passes_of(std::vector<Op>& program) {
  std::vector<Op*> passes;
  for (Op& op : program) {
    if (is_pass(op.kind)) passes.push_back(&op);
  }
  return passes;
}

}  // namespace

void give_alone_bodies(std::vector<Op>& program, const std::vector<BodyId>& alone) {
  const auto run_alone = [&](Op& op) {
    if (op.body.valid() && alone[op.body.index()].valid()) op.body = alone[op.body.index()];
  };
  const std::vector<Op*> passes = passes_of(program);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (i + 1 < passes.size() && may_run_together(*passes[i], *passes[i + 1])) {
      ++i;
    } else {
      run_alone(*passes[i]);
    }
  }
}

}  // namespace stagecraft

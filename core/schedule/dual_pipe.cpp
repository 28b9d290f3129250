#include "schedule/dual_pipe.hpp"

#include "schedule/program.hpp"

namespace stagecraft {

namespace {

struct DualWriter {
  std::vector<Op>& program;
  const DualPhase (&phases)[2];
  std::int32_t forwards[2] = {0, 0};
  std::int32_t backwards[2] = {0, 0};
  std::vector<Op> pending;  // weight gradients, a queue read from `next`
  std::size_t next = 0;

  Op pass(OpKind kind, int phase, std::int32_t count) const {
    const DualPhase& of = phases[phase];
    return compute_op(kind, of.stage, of.first_micro_batch + count, of.replica);
  }
  void forward(int phase) { program.push_back(pass(OpKind::forward, phase, forwards[phase]++)); }
  void backward(int phase) { program.push_back(pass(OpKind::backward, phase, backwards[phase]++)); }
  void input_grad(int phase) {
    const std::int32_t count = backwards[phase]++;
    program.push_back(pass(OpKind::input_grad, phase, count));
    pending.push_back(pass(OpKind::weight_grad, phase, count));
  }
  void weight_grad() { program.push_back(pending[next++]); }
  void overlapped(int forward_phase, int backward_phase) {
    forward(forward_phase);
    program.back().overlaps_next = true;
    backward(backward_phase);
  }
};

}  // namespace

void write_dual_pipe(std::vector<Op>& program, std::int32_t depth, std::int32_t height, std::int32_t pairs,
                     const DualPhase (&phases)[2]) {
  DualWriter rank{program, phases, {}, {}, {}, 0};
  const std::int32_t outer = depth - height - 1;
  for (std::int32_t k = 0; k < 2 * outer; ++k) rank.forward(0);
  for (std::int32_t k = 0; k < height + 1; ++k) {
    rank.forward(0);
    rank.forward(1);
  }
  for (std::int32_t k = 0; k < outer; ++k) {
    rank.input_grad(1);
    rank.weight_grad();
    rank.forward(1);
  }
  for (std::int32_t k = 0; k < pairs; ++k) {
    if (k == 0 && outer == 0) {
      rank.forward(0);
      rank.backward(1);
    } else {
      rank.overlapped(0, 1);
    }
    rank.overlapped(1, 0);
  }
  for (std::int32_t k = 0; k < outer; ++k) {
    rank.backward(1);
    rank.overlapped(1, 0);
  }
  const std::int32_t turn = (height + 1) / 2;
  const bool turns_between = height % 2 == 0;
  for (std::int32_t k = 0; k < height + 1; ++k) {
    k > turn || (k == turn && !turns_between) ? rank.input_grad(1) : rank.backward(1);
    k >= turn ? rank.input_grad(0) : rank.backward(0);
  }
  for (std::int32_t k = 0; k < outer; ++k) {
    rank.weight_grad();
    rank.input_grad(0);
  }
  for (std::int32_t k = 0; k < height + 1; ++k) rank.weight_grad();
}

}  // namespace stagecraft

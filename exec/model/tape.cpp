#include "exec/model/tape.hpp"

#include <utility>

#include "exec/model/out_of_memory.hpp"

namespace stagecraft {

void WeightGradients::add(std::function<void()> closure) {
  if (later_) {
    stored_.push_back(std::move(closure));
  } else {
    closure();
  }
}

void WeightGradients::run() {
  for (std::function<void()>& closure : stored_) {
    closure();
    closure = nullptr;
  }
  stored_.clear();
}

at::Tensor Tape::run(at::Tensor gradient, Backward& backward) {
  while (!steps_.empty()) {
    const Kept kept = std::move(steps_.back());
    steps_.pop_back();
    const auto step = [&] { return kept.step(std::move(gradient), backward); };
    // A checkpointed layer's inner tape knows no layer; the outer one does.
    gradient = kept.layer != nullptr ? naming("gradients of", *kept.layer, step) : step();
  }
  return gradient;
}

void fork_residual(Tape* tape) {
  if (tape == nullptr) return;
  tape->push([](at::Tensor gradient, Backward& backward) {
    gradient.add_(backward.residuals.back());
    backward.residuals.pop_back();
    return gradient;
  });
}

at::Tensor join_residual(const at::Tensor& x, const at::Tensor& branch, Tape* tape) {
  if (tape != nullptr) {
    tape->push([](at::Tensor gradient, Backward& backward) {
      backward.residuals.push_back(gradient);
      return gradient;
    });
  }
  return at::add(x, branch);
}

}  // namespace stagecraft

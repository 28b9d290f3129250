#pragma once
// What the forward of one stage and micro-batch leaves for its backward. Layers push a step each; backward runs them in
// reverse and drops what they kept as soon as it is used. A step returns the gradient of its input and hands the weight
// part over as a closure, which runs at once (B) or waits for its W: the input-gradient and weight-gradient split of
// Zero Bubble (arXiv 2401.10241, section 2) with the weight-gradient store of DualPipe and Megatron-LM.
//
// This is no torch::autograd graph on purpose: the autograd engine runs all CUDA nodes of a process on one thread per
// device, so ranks that are threads sharing a GPU would wait for each other inside a tensor-parallel backward for ever.

#include <functional>
#include <string>
#include <vector>

#include "exec/torch.hpp"

namespace stagecraft {

/// Weight gradients still to be computed; each closure keeps {x, g} of its layer alive until it has run.
class WeightGradients {
 public:
  explicit WeightGradients(bool later) : later_(later) {}
  void add(std::function<void()> closure);
  /// Runs and drops what is stored, in the order it came.
  void run();
  bool empty() const { return stored_.empty(); }

 private:
  bool later_;
  std::vector<std::function<void()>> stored_;
};

struct Backward {
  WeightGradients& weights;
  std::vector<at::Tensor> residuals;  // gradients that pass beside a branch
  double recompute_s = 0;             // host time spent in recomputed forwards
};

class Tape {
 public:
  using Step = std::function<at::Tensor(at::Tensor gradient, Backward& backward)>;
  void push(Step step) { steps_.push_back({std::move(step), layer_}); }
  /// Later steps belong to this layer. The name outlives the tape.
  void begin_layer(const std::string& name) { layer_ = &name; }
  bool empty() const { return steps_.empty(); }
  /// Gradient of the stage's input from that of its output; the tape is empty afterwards.
  at::Tensor run(at::Tensor gradient, Backward& backward);

 private:
  struct Kept {
    Step step;
    const std::string* layer = nullptr;
  };
  std::vector<Kept> steps_;
  const std::string* layer_ = nullptr;
};

/// x + branch(x): call fork before the branch and join after it. Both do nothing without a tape.
void fork_residual(Tape* tape);
at::Tensor join_residual(const at::Tensor& x, const at::Tensor& branch, Tape* tape);

}  // namespace stagecraft

// Megatron-LM, core/fusions/fused_bias_geglu.py: each half is clamped, both are copied into one tensor again, and only
// then comes the fused activation. Backward each half's gradient is masked by what was clamped, and both are joined.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

constexpr double copied = 2;  // read and written

std::int32_t kernels(const MlpSpec& mlp) {
  return mlp.gated ? 3 : 1;
}

}  // namespace

void add_clamp_forward(std::vector<Segment>& out, const char* name, const BodyShape& shape, const MlpSpec& mlp,
                       double elements) {
  if (!shape.clamp_apart) return;
  constexpr double clamped = 2;
  out.push_back(pass(name, (clamped + (mlp.gated ? copied : 0)) * shape.element * elements, kernels(mlp)));
}

void add_clamp_backward(const BackwardList& list, const char* name, const BodyShape& shape, const MlpSpec& mlp,
                        double elements) {
  if (!shape.clamp_apart) return;
  constexpr double masked = 3;  // gradient and input read, gradient written
  list.input_grad(pass(name, (masked + (mlp.gated ? copied : 0)) * shape.element * elements, kernels(mlp)));
}

}  // namespace stagecraft

// The feed-forward part of a block: column-parallel up (and gate) projection, activation, row-parallel down projection.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

double ffn_elements(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.ffn);
}

std::int64_t up_width(const BodyShape& shape, const Plan& plan) {
  return shape.ffn * (plan.model.mlp.gated ? 2 : 1);
}

double up_elements(const BodyShape& shape, const MlpSpec& mlp) {
  return ffn_elements(shape) * (mlp.gated ? 2 : 1);
}

void add_activation(std::vector<Segment>& out, const BodyShape& shape, const MlpSpec& mlp) {
  add_clamp_forward(out, "mlp-clamp", shape, mlp, up_elements(shape, mlp));
  const double tensors = mlp.gated ? 3 : 2;  // read (both) and written
  if (mlp.gated ? shape.fused_gate : shape.fused) {
    out.push_back(pass("mlp-activation", tensors * shape.element * ffn_elements(shape)));
  } else {
    // Bias, activation and the gate's product in passes of their own.
    const double passes = (mlp.bias ? 2 : 0) * (mlp.gated ? 2.0 : 1.0) + 2 + (mlp.gated ? 3 : 0);
    out.push_back(pass("mlp-activation", passes * shape.element * ffn_elements(shape),
                       1 + (mlp.bias ? 1 : 0) + (mlp.gated ? 1 : 0)));
  }
  for (const Segment& cast : casts("mlp-down-cast", shape, shape.tokens, shape.ffn)) out.push_back(cast);
}

// A checkpoint around the MLP runs all of it again, with what it says to its group.
void add_forward_again(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  std::vector<Segment> again;
  if (runs_again(plan, &RecomputeModules::mlp)) {
    enter_tensor_region(again, "mlp-all-gather", shape);
    add_mlp_forward(again, shape, plan);
    leave_tensor_region(again, "mlp-reduce", shape);
  } else if (runs_again(plan, &RecomputeModules::activation)) {
    add_activation(again, shape, plan.model.mlp);
  }
  add_again(list, again);
}

}  // namespace

void add_mlp_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  out.push_back(gemm("mlp-up", shape, shape.tokens, up_width(shape, plan), shape.hidden));
  add_activation(out, shape, plan.model.mlp);
  out.push_back(gemm("mlp-down", shape, shape.tokens, shape.hidden, shape.ffn));
}

void add_mlp_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  const MlpSpec& mlp = plan.model.mlp;
  const std::int64_t up = up_width(shape, plan);
  add_forward_again(list, shape, plan);
  for (const Segment& cast : casts("mlp-down-grad-cast", shape, shape.tokens, shape.hidden)) list.input_grad(cast);
  list.input_grad(gemm("mlp-down-input-grad", shape, shape.tokens, shape.ffn, shape.hidden));
  add_weight_grad(list, "mlp-down-weight-grad", "mlp-down-accumulate", shape, shape.tokens, shape.hidden, shape.ffn);
  // Reads the gradient and the saved input (both halves if gated), writes their gradients.
  const double tensors = mlp.gated ? 5 : 3;
  const bool split = !shape.fused_gate && mlp.gated;
  list.input_grad(
      pass("mlp-activation-grad", (tensors + (split ? 3 : 0)) * shape.element * ffn_elements(shape), split ? 2 : 1));
  add_clamp_backward(list, "mlp-clamp-grad", shape, mlp, up_elements(shape, mlp));
  for (const Segment& cast : casts("mlp-up-grad-cast", shape, shape.tokens, up)) list.input_grad(cast);
  if (mlp.bias) {
    list.weight_grad(pass("mlp-up-bias-grad", shape.element * up_elements(shape, mlp)));
  }
  const double whole = shape.element * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden);
  if (shape.sequence_parallel) {
    // Only the shard of the input was kept: it is gathered again for the weight gradient (arXiv 2205.05198,
    // section 4.2.2).
    list.weight_grad(collective("mlp-all-gather-again", CollectiveKind::all_gather, Axis::tensor, whole, 1));
  }
  list.input_grad(gemm("mlp-up-input-grad", shape, shape.tokens, shape.hidden, up));
  if (shape.tensor > 1) {
    const CollectiveKind kind = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    list.input_grad(collective("mlp-grad-reduce", kind, Axis::tensor, whole, 1));
  }
  add_weight_grad(list, "mlp-up-weight-grad", "mlp-up-accumulate", shape, shape.tokens, up, shape.hidden);
}

}  // namespace stagecraft

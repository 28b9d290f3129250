// One transformer block in the order of Megatron-LM (arXiv 1909.08053, section 3; arXiv 2205.05198, section 4):
// norm, qkv, core attention, projection, residual, norm, MLP, residual. With fp8 GEMMs the norms
// write fp8 themselves; what other kernels wrote is cast in a pass of its own, the activation's output too: Megatron-LM
// runs it between the two linear layers (core/transformer/mlp.py).

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

double qkv_elements(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.qkv_width);
}

double rotary_bytes(const BodyShape& shape) {
  const double rotated = static_cast<double>(shape.tokens) *
                         static_cast<double>((shape.heads + shape.kv_heads) * shape.head_dim) * shape.element;
  // Unfused: half-rotation (2 tensors), two products with the tables (2 each), their sum (3).
  return rotated * (shape.fused ? 2 : 9);
}

double whole_bytes(const BodyShape& shape) {
  return shape.element * static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden);
}

}  // namespace

void add_block_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  const ModelSpec& model = plan.model;
  add_norm_forward(out, "attention-norm", shape);
  enter_tensor_region(out, "attention-all-gather", shape);
  out.push_back(gemm("qkv", shape, shape.tokens, shape.qkv_width, shape.hidden));
  if (model.attention.bias) out.push_back(pass("qkv-bias", 2 * shape.element * qkv_elements(shape)));
  if (model.positions == Positions::rotary) out.push_back(pass("rotary", rotary_bytes(shape), shape.fused ? 1 : 4));
  add_attention_forward(out, shape, plan);
  for (const Segment& cast : casts("projection-cast", shape, shape.tokens, shape.query_width)) out.push_back(cast);
  out.push_back(gemm("attention-projection", shape, shape.tokens, shape.hidden, shape.query_width));
  leave_tensor_region(out, "attention-reduce", shape);
  add_residual_forward(out, "attention-residual", shape, model.dropout, model.attention.bias);
  add_norm_forward(out, "mlp-norm", shape);
  enter_tensor_region(out, "mlp-all-gather", shape);
  add_mlp_forward(out, shape, plan);
  leave_tensor_region(out, "mlp-reduce", shape);
  add_residual_forward(out, "mlp-residual", shape, model.dropout, model.mlp.bias);
}

void add_block_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  const ModelSpec& model = plan.model;
  add_residual_backward(list, "mlp-residual-grad", "mlp-down-bias-grad", shape, model.dropout, model.mlp.bias);
  if (shape.sequence_parallel) {
    list.input_grad(collective("mlp-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
  add_mlp_backward(list, shape, plan);
  add_norm_backward(list, "mlp-norm-grad", "mlp-norm-weight-grad", shape);

  add_residual_backward(list, "attention-residual-grad", "projection-bias-grad", shape, model.dropout,
                        model.attention.bias);
  if (shape.sequence_parallel) {
    list.input_grad(
        collective("attention-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
  for (const Segment& cast : casts("projection-grad-cast", shape, shape.tokens, shape.hidden)) list.input_grad(cast);
  list.input_grad(gemm("projection-input-grad", shape, shape.tokens, shape.query_width, shape.hidden));
  add_weight_grad(list, "projection-weight-grad", "projection-accumulate", shape, shape.tokens, shape.hidden,
                  shape.query_width);
  add_attention_backward(list, shape, plan);
  if (model.positions == Positions::rotary) {
    list.input_grad(pass("rotary-grad", rotary_bytes(shape), shape.fused ? 1 : 4));
  }
  for (const Segment& cast : casts("qkv-grad-cast", shape, shape.tokens, shape.qkv_width)) list.input_grad(cast);
  if (model.attention.bias) list.weight_grad(pass("qkv-bias-grad", shape.element * qkv_elements(shape)));
  if (shape.sequence_parallel) {
    list.weight_grad(
        collective("attention-all-gather-again", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape), 1));
  }
  list.input_grad(gemm("qkv-input-grad", shape, shape.tokens, shape.hidden, shape.qkv_width));
  if (shape.tensor > 1) {
    const CollectiveKind kind = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    list.input_grad(collective("attention-grad-reduce", kind, Axis::tensor, whole_bytes(shape), 1));
  }
  add_weight_grad(list, "qkv-weight-grad", "qkv-accumulate", shape, shape.tokens, shape.qkv_width, shape.hidden);
  add_norm_backward(list, "attention-norm-grad", "attention-norm-weight-grad", shape);
}

}  // namespace stagecraft

// One transformer block in the order of Megatron-LM (arXiv 1909.08053, section 3; arXiv 2205.05198, section 4):
// norm, attention, residual, norm, MLP or experts, residual. With fp8 GEMMs the norms write fp8 themselves where the
// scale is known beforehand; what other kernels wrote is cast in a pass of its own, the activation's output too:
// Megatron-LM runs it between the two linear layers (core/transformer/mlp.py).

#include "schedule/attention.hpp"
#include "schedule/body_layers.hpp"
#include "schedule/experts.hpp"

namespace stagecraft {
namespace {

void add_dense_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  if (shape.sequence_parallel) {
    list.input_grad(collective("mlp-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
  add_mlp_backward(list, shape, plan);
}

void add_dense_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  for (const Segment& cast : casts_after_norm("mlp-norm-cast", shape)) out.push_back(cast);
  enter_tensor_region(out, "mlp-all-gather", shape);
  add_mlp_forward(out, shape, plan);
  leave_tensor_region(out, "mlp-reduce", shape);
}

// A norm's output, which the layer behind it reads, as that layer reads it.
void add_norm_for_layer(std::vector<Segment>& out, const char* name, const char* cast_name, const BodyShape& shape) {
  add_norm_forward(out, name, shape);
  for (const Segment& cast : casts_after_norm(cast_name, shape)) out.push_back(cast);
}

void add_norm_again(const BackwardList& list, const char* name, const char* cast_name, const BodyShape& shape,
                    const Plan& plan) {
  if (!runs_again(plan, &RecomputeModules::norms)) return;
  std::vector<Segment> again;
  add_norm_for_layer(again, name, cast_name, shape);
  add_again(list, again);
}

// A module of multi-token prediction puts the last hidden state and the next token's embedding together
// (arXiv 2412.19437, section 2.2); embedding and head are those of the model, and the head and loss run once more.
void add_prediction_forward(std::vector<Segment>& out, const BodyShape& shape) {
  add_norm_forward(out, "prediction-hidden-norm", shape);
  add_norm_forward(out, "prediction-embedding-norm", shape);
  out.push_back(gemm("prediction-projection", shape, shape.norm_tokens, shape.hidden, 2 * shape.hidden));
}

void add_prediction_backward(const BackwardList& list, const BodyShape& shape) {
  list.input_grad(gemm("prediction-input-grad", shape, shape.norm_tokens, 2 * shape.hidden, shape.hidden));
  add_weight_grad(list, "prediction-weight-grad", "prediction-accumulate", shape, shape.norm_tokens, shape.hidden,
                  2 * shape.hidden);
  add_norm_backward(list, "prediction-hidden-norm-grad", "prediction-hidden-norm-weight-grad", shape);
  add_norm_backward(list, "prediction-embedding-norm-grad", "prediction-embedding-norm-weight-grad", shape);
}

}  // namespace

void add_block_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan, const BlockKind& kind) {
  const ModelSpec& model = plan.model;
  if (kind.prediction) add_prediction_forward(out, shape);
  add_norm_for_layer(out, "attention-norm", "attention-norm-cast", shape);
  attention_layer_of(model).forward(out, shape, plan, kind);
  if (model.post_norms) add_norm_forward(out, "attention-post-norm", shape);
  add_residual_forward(out, "attention-residual", shape, model.dropout, has_output_bias(model.attention));
  if (kind.cross) add_cross_attention_forward(out, shape, plan, kind);
  add_norm_forward(out, "mlp-norm", shape);
  (kind.experts ? add_experts_forward : add_dense_forward)(out, shape, plan);
  if (model.post_norms) add_norm_forward(out, "mlp-post-norm", shape);
  add_residual_forward(out, "mlp-residual", shape, model.dropout, model.mlp.bias);
  if (kind.prediction) {
    add_head_forward(out, shape, model);
    add_loss_forward(out, shape, plan.run.loss_kernel);
  }
}

void add_block_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan, const BlockKind& kind) {
  const ModelSpec& model = plan.model;
  if (kind.prediction) {
    add_loss_backward(list, shape, plan.run.loss_kernel);
    add_head_backward(list, shape, model);
  }
  add_residual_backward(list, "mlp-residual-grad", "mlp-down-bias-grad", shape, model.dropout, model.mlp.bias);
  if (model.post_norms) add_norm_backward(list, "mlp-post-norm-grad", "mlp-post-norm-weight-grad", shape);
  add_norm_again(list, "mlp-norm", "mlp-norm-cast", shape, plan);
  (kind.experts ? add_experts_backward : add_dense_backward)(list, shape, plan);
  add_norm_backward(list, "mlp-norm-grad", "mlp-norm-weight-grad", shape);
  if (kind.cross) add_cross_attention_backward(list, shape, plan, kind);
  add_residual_backward(list, "attention-residual-grad", "projection-bias-grad", shape, model.dropout,
                        has_output_bias(model.attention));
  if (model.post_norms) add_norm_backward(list, "attention-post-norm-grad", "attention-post-norm-weight-grad", shape);
  add_norm_again(list, "attention-norm", "attention-norm-cast", shape, plan);
  attention_layer_of(model).backward(list, shape, plan, kind);
  add_norm_backward(list, "attention-norm-grad", "attention-norm-weight-grad", shape);
  if (kind.prediction) add_prediction_backward(list, shape);
}

}  // namespace stagecraft

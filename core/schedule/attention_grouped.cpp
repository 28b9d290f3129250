// Multi-head and grouped-query attention: one projection to queries, keys and values (arXiv 1909.08053, section 3).

#include "schedule/attention.hpp"
#include "schedule/body_layers.hpp"
#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

double qkv_elements(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.qkv_width);
}

double rotated_elements(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>((shape.heads + shape.kv_heads) * shape.head_dim);
}

double rotary_bytes(const BodyShape& shape) {
  // Unfused: half-rotation (2 tensors), two products with the tables (2 each), their sum (3).
  return rotated_elements(shape) * shape.element * (shape.fused ? 2 : 9);
}

}  // namespace

double kept_by_grouped_attention(const BodyShape& shape, const Plan&) {
  return qkv_elements(shape) + static_cast<double>(shape.tokens) * static_cast<double>(shape.query_width);
}

void add_grouped_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                                   const BlockKind& kind) {
  const ModelSpec& model = plan.model;
  enter_tensor_region(out, "attention-all-gather", shape);
  out.push_back(gemm("qkv", shape, shape.tokens, shape.qkv_width, shape.hidden));
  if (model.attention.bias) out.push_back(pass("qkv-bias", 2 * shape.element * qkv_elements(shape)));
  if (model.attention.qk_norm) out.push_back(pass("head-norms", 2 * shape.element * rotated_elements(shape), 2));
  if (model.positions == Positions::rotary) out.push_back(pass("rotary", rotary_bytes(shape), shape.fused ? 1 : 4));
  if (plan.run.host.attention_waits) out.push_back(host_wait("attention-host-wait"));
  add_core_attention_forward(out, core_shape(shape, plan, kind), shape, plan);
  for (const Segment& cast : casts("projection-cast", shape, shape.tokens, shape.query_width)) out.push_back(cast);
  out.push_back(gemm("attention-projection", shape, shape.tokens, shape.hidden, shape.query_width));
  leave_tensor_region(out, "attention-reduce", shape);
}

void add_grouped_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                    const BlockKind& kind) {
  const ModelSpec& model = plan.model;
  add_projection_backward(list, shape, shape.query_width);
  add_core_attention_backward(list, core_shape(shape, plan, kind), shape, plan);
  if (model.positions == Positions::rotary) {
    list.input_grad(pass("rotary-grad", rotary_bytes(shape), shape.fused ? 1 : 4));
  }
  if (model.attention.qk_norm) {
    list.input_grad(pass("head-norms-grad", 3 * shape.element * rotated_elements(shape), 2));
    list.weight_grad(pass("head-norms-weight-grad", 2 * shape.element * rotated_elements(shape), 2));
  }
  for (const Segment& cast : casts("qkv-grad-cast", shape, shape.tokens, shape.qkv_width)) list.input_grad(cast);
  if (model.attention.bias) list.weight_grad(pass("qkv-bias-grad", shape.element * qkv_elements(shape)));
  if (shape.sequence_parallel) {
    list.weight_grad(
        collective("attention-all-gather-again", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape), 1));
  }
  list.input_grad(gemm("qkv-input-grad", shape, shape.tokens, shape.hidden, shape.qkv_width));
  if (shape.tensor > 1) {
    const CollectiveKind reduce = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    list.input_grad(collective("attention-grad-reduce", reduce, Axis::tensor, whole_bytes(shape), 1));
  }
  add_weight_grad(list, "qkv-weight-grad", "qkv-accumulate", shape, shape.tokens, shape.qkv_width, shape.hidden);
}

}  // namespace stagecraft

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

/// Tensors of queries and keys that are read or written, and kernels.
struct Passes {
  double tensors = 0;
  std::int32_t kernels = 0;
};

/// Written out: half-rotation (2 tensors), two products with the tables (2 each), their sum (3). Megatron-LM does so
/// with YaRN too, since TransformerEngine's kernel takes no concentration factor
/// (core/models/common/embeddings/rope_utils.py); there queries and keys go apart, a negated half (1), its joining (2),
/// and one of the rotated and the other part (2) come on top, and autograd fills and adds up the gradients of the
/// slices.
Passes rotation(const BodyShape& shape, const Plan& plan, bool backward) {
  const Framework framework = plan.run.framework;
  const bool megatron = framework == Framework::megatron || framework == Framework::transformer_engine;
  if (plan.model.positions == Positions::yarn && megatron) return backward ? Passes{17, 18} : Passes{12, 12};
  return shape.fused ? Passes{2, 1} : Passes{9, 4};
}

Segment rotary(const char* name, const BodyShape& shape, const Plan& plan, bool backward) {
  const Passes passes = rotation(shape, plan, backward);
  return pass(name, passes.tensors * rotated_elements(shape) * shape.element, passes.kernels);
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
  if (rotates(model.positions)) out.push_back(rotary("rotary", shape, plan, false));
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
  if (rotates(model.positions)) list.input_grad(rotary("rotary-grad", shape, plan, true));
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

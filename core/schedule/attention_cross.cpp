// A decoder block's second attention (arXiv 1706.03762, section 3.2.3): queries from the decoder, keys and values from
// the encoder's output, every query sees every key.

#include "schedule/attention.hpp"
#include "schedule/body_layers.hpp"
#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

std::int64_t encoder_tokens(const BodyShape& shape, const Plan& plan) {
  return shape.sequences * encoder_length(plan);
}

std::int64_t key_value_width(const BodyShape& shape) {
  return 2 * shape.kv_heads * shape.head_dim;
}

}  // namespace

void add_cross_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                                 const BlockKind& kind) {
  const ModelSpec& model = plan.model;
  add_norm_forward(out, "cross-attention-norm", shape);
  enter_tensor_region(out, "cross-attention-all-gather", shape);
  out.push_back(gemm("cross-query", shape, shape.tokens, shape.query_width, shape.hidden));
  out.push_back(gemm("cross-key-value", shape, encoder_tokens(shape, plan), key_value_width(shape), shape.hidden));
  add_core_attention_forward(out, core_shape(shape, plan, kind, true), shape, plan);
  out.push_back(gemm("cross-projection", shape, shape.tokens, shape.hidden, shape.query_width));
  leave_tensor_region(out, "cross-attention-reduce", shape);
  add_residual_forward(out, "cross-attention-residual", shape, model.dropout, has_output_bias(model.attention));
}

void add_cross_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                  const BlockKind& kind) {
  const ModelSpec& model = plan.model;
  const std::int64_t keys = encoder_tokens(shape, plan);
  add_residual_backward(list, "cross-attention-residual-grad", "cross-projection-bias-grad", shape, model.dropout,
                        has_output_bias(model.attention));
  if (shape.sequence_parallel) {
    list.input_grad(
        collective("cross-attention-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
  list.input_grad(gemm("cross-projection-input-grad", shape, shape.tokens, shape.query_width, shape.hidden));
  add_weight_grad(list, "cross-projection-weight-grad", "cross-projection-accumulate", shape, shape.tokens,
                  shape.hidden, shape.query_width);
  add_core_attention_backward(list, core_shape(shape, plan, kind, true), shape, plan);
  list.input_grad(gemm("cross-query-input-grad", shape, shape.tokens, shape.hidden, shape.query_width));
  list.input_grad(gemm("cross-key-value-input-grad", shape, keys, shape.hidden, key_value_width(shape)));
  if (shape.tensor > 1) {
    const CollectiveKind reduce = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    list.input_grad(collective("cross-attention-grad-reduce", reduce, Axis::tensor, whole_bytes(shape), 1));
  }
  add_weight_grad(list, "cross-query-weight-grad", "cross-query-accumulate", shape, shape.tokens, shape.query_width,
                  shape.hidden);
  add_weight_grad(list, "cross-key-value-weight-grad", "cross-key-value-accumulate", shape, keys,
                  key_value_width(shape), shape.hidden);
  add_norm_backward(list, "cross-attention-norm-grad", "cross-attention-norm-weight-grad", shape);
}

}  // namespace stagecraft

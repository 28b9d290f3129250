// Core attention. Unfused, the scores exist in memory as batch x heads x queries x keys (arXiv 2205.05198,
// section 4.1); the kernels of Megatron-LM are: scores GEMM, softmax with scale and mask, dropout, context GEMM. Flash
// attention (arXiv 2205.14135, 2307.08691) is one kernel that reads Q, K, V and writes the output.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

bool is_flash(AttentionKernel kernel) {
  return kernel != AttentionKernel::unfused && kernel != AttentionKernel::fused_softmax;
}

std::int32_t flash_version(AttentionKernel kernel) {
  if (kernel == AttentionKernel::flash_1) return 1;
  return kernel == AttentionKernel::flash_3 ? 3 : 2;
}

double scores_of(const BodyShape& shape) {
  return static_cast<double>(shape.sequences * shape.heads) * static_cast<double>(shape.query_length) *
         static_cast<double>(shape.key_length);
}

double query_elements(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.query_width);
}

double key_value_elements(const BodyShape& shape) {
  return 2.0 * static_cast<double>(shape.sequences * shape.key_length) *
         static_cast<double>(shape.kv_heads * shape.head_dim);
}

// The fused kernel reads only what the mask leaves and still writes the whole row (Megatron-LM
// scaled_upper_triang_masked_softmax.h).
double softmax_bytes(const BodyShape& shape, const Plan& plan, double reads) {
  const double visible = plan.model.attention.causal && shape.context == 1 ? 0.5 : 1.0;
  return scores_of(shape) * shape.element * (reads * visible + 1);
}

// Without the fused kernel the scores are cast to fp32, scaled, masked, normalised and cast back, each a pass of its
// own.
double unfused_softmax_bytes(const BodyShape& shape) {
  const double casts = shape.element < 4 ? 2 * (shape.element + 4) : 0;
  return scores_of(shape) * (casts + 3 * 8);
}

Segment flash(const char* name, const BodyShape& shape, const Plan& plan, bool backward) {
  Segment segment;
  segment.name = name;
  Kernel& kernel = segment.kernel;
  kernel.kind = KernelKind::attention;
  kernel.dtype = shape.element_dtype;
  kernel.backward = backward;
  kernel.causal = plan.model.attention.causal;
  kernel.batch = shape.sequences * shape.heads;
  kernel.m = shape.query_length;
  kernel.n = shape.key_length;
  kernel.k = shape.head_dim;
  kernel.flash_version = flash_version(plan.run.attention_kernel);
  // Two products forward; backward repeats the first and adds four (arXiv 2307.08691, section 3.2). Causal work is
  // half.
  const double products = (backward ? 5.0 : 2.0) * (kernel.causal ? 0.5 : 1.0);
  kernel.flops = Flops{2 * products * scores_of(shape) * static_cast<double>(shape.head_dim)};
  const double streams = backward ? 4.0 : 2.0;  // Q and O; dQ and dO too
  kernel.bytes =
      Bytes{shape.element * (streams * query_elements(shape) + (backward ? 2.0 : 1.0) * key_value_elements(shape))};
  return segment;
}

void add_core_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  if (is_flash(plan.run.attention_kernel)) {
    out.push_back(flash("flash-attention", shape, plan, false));
    return;
  }
  const std::int64_t batch = shape.sequences * shape.heads;
  out.push_back(batched_gemm("attention-scores", shape, batch, shape.query_length, shape.key_length, shape.head_dim));
  if (plan.run.attention_kernel == AttentionKernel::fused_softmax) {
    out.push_back(pass("softmax", softmax_bytes(shape, plan, 1)));
  } else {
    out.push_back(pass("softmax", unfused_softmax_bytes(shape), 5));
  }
  if (plan.model.dropout > 0) {
    out.push_back(pass("attention-dropout", scores_of(shape) * (2 * shape.element + 1)));
  }
  out.push_back(batched_gemm("attention-context", shape, batch, shape.query_length, shape.head_dim, shape.key_length));
  out.push_back(pass("attention-layout", 2 * shape.element * query_elements(shape)));
}

Segment gather_keys(const BodyShape& shape, CollectiveKind kind) {
  return collective(kind == CollectiveKind::all_gather ? "attention-kv-all-gather" : "attention-kv-reduce-scatter",
                    kind, Axis::context, shape.element * key_value_elements(shape));
}

}  // namespace

void add_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  if (shape.context > 1) out.push_back(gather_keys(shape, CollectiveKind::all_gather));
  add_core_forward(out, shape, plan);
}

void add_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  if (shape.context > 1) list.input_grad(gather_keys(shape, CollectiveKind::all_gather));
  if (is_flash(plan.run.attention_kernel)) {
    list.input_grad(flash("flash-attention-backward", shape, plan, true));
  } else {
    if (plan.run.recompute == Recompute::selective) {
      std::vector<Segment> again;
      add_core_forward(again, shape, plan);
      for (Segment& segment : again) list.input_grad(segment);
    }
    const std::int64_t batch = shape.sequences * shape.heads;
    const std::int64_t q = shape.query_length, keys = shape.key_length, d = shape.head_dim;
    list.input_grad(pass("attention-layout-grad", 2 * shape.element * query_elements(shape)));
    list.input_grad(batched_gemm("attention-context-grad", shape, batch, q, keys, d));
    list.input_grad(batched_gemm("attention-values-grad", shape, batch, keys, d, q));
    if (plan.model.dropout > 0) {
      list.input_grad(pass("attention-dropout-grad", scores_of(shape) * (2 * shape.element + 1)));
    }
    if (plan.run.attention_kernel == AttentionKernel::fused_softmax) {
      list.input_grad(pass("softmax-grad", softmax_bytes(shape, plan, 2)));
    } else {
      list.input_grad(pass("softmax-grad", unfused_softmax_bytes(shape) + 4 * scores_of(shape), 5));
    }
    list.input_grad(batched_gemm("attention-queries-grad", shape, batch, q, d, keys));
    list.input_grad(batched_gemm("attention-keys-grad", shape, batch, keys, d, q));
  }
  if (shape.context > 1) list.input_grad(gather_keys(shape, CollectiveKind::reduce_scatter));
}

}  // namespace stagecraft

// Unfused, the scores exist in memory as batch x heads x queries x keys (arXiv 2205.05198, section 4.1); the kernels of
// Megatron-LM are: scores GEMM, softmax with scale and mask, dropout, context GEMM. Flash attention (arXiv 2205.14135,
// 2307.08691) is one kernel that reads Q, K, V and writes the output.

#include <algorithm>
#include <cmath>

#include "schedule/body_layers.hpp"
#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

double heads_of(const CoreShape& core) {
  return static_cast<double>(core.sequences * core.heads);
}

double scores_of(const CoreShape& core) {
  return heads_of(core) * static_cast<double>(core.queries) * static_cast<double>(core.keys);
}

// The fused kernel reads only what the mask leaves and still writes the whole row (Megatron-LM
// scaled_upper_triang_masked_softmax.h).
double softmax_bytes(const CoreShape& core, const BodyShape& shape, double reads) {
  const double visible = core.causal && core.context == 1 ? 0.5 : 1.0;
  return scores_of(core) * shape.element * (reads * visible + 1);
}

// Without the fused kernel the scores are cast to fp32, scaled, masked, normalised and cast back, each a pass of its
// own.
double unfused_softmax_bytes(const CoreShape& core, const BodyShape& shape) {
  const double cast = shape.element < 4 ? 2 * (shape.element + 4) : 0;
  return scores_of(core) * (cast + 3 * 8);
}

// A product with whole queries and keys, also on the diagonal; of another rank's keys it takes those that the mask
// leaves, which are more on the busiest rank than on the average one.
Segment unfused(const char* name, const CoreShape& core, const BodyShape& shape, std::int64_t m, std::int64_t n,
                std::int64_t k) {
  Segment segment = batched_gemm(name, shape, core.sequences * core.heads, m, n, k);
  if (!core.of_others) return segment;
  segment.kernel.masked = core.masked;
  const double worked_on = static_cast<double>(core.queries) * static_cast<double>(core.keys);
  segment.kernel.average = std::min(1.0, core.average * core.pairs / worked_on);
  return segment;
}

Segment flash(const char* name, const CoreShape& core, const BodyShape& shape, bool backward) {
  Segment segment;
  segment.name = name;
  Kernel& kernel = segment.kernel;
  kernel.kind = KernelKind::attention;
  kernel.dtype = shape.element_dtype;
  kernel.backward = backward;
  kernel.causal = core.causal;
  kernel.masked = core.masked;
  kernel.batch = core.sequences * core.heads;
  kernel.m = core.queries;
  kernel.n = core.keys;
  kernel.k = core.head_dim;
  kernel.flash_version = core.flash_version;
  kernel.average = core.average;
  // Two products forward; backward repeats the first and adds four (arXiv 2307.08691, section 3.2): S, dQ and dK by the
  // width of a head, dP and dV by that of a value.
  const auto key = static_cast<double>(core.head_dim), value = static_cast<double>(core.value_dim);
  kernel.flops = Flops{2 * heads_of(core) * core.pairs * (backward ? 3 * key + 2 * value : key + value)};
  const double streams = backward ? 2 : 1;  // Q and O; dQ and dO too
  kernel.bytes =
      Bytes{shape.element * (streams * (query_elements(core, core.queries) + output_elements(core, core.queries)) +
                             streams * key_value_elements(core, core.keys))};
  return segment;
}

}  // namespace

void add_local_attention_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape) {
  if (core.flash) {
    out.push_back(flash("flash-attention", core, shape, false));
    return;
  }
  out.push_back(unfused("attention-scores", core, shape, core.queries, core.keys, core.head_dim));
  if (core.fused_softmax) {
    out.push_back(pass("softmax", softmax_bytes(core, shape, 1)));
  } else {
    out.push_back(pass("softmax", unfused_softmax_bytes(core, shape), 5));
  }
  if (core.dropout) out.push_back(pass("attention-dropout", scores_of(core) * (2 * shape.element + 1)));
  out.push_back(unfused("attention-context", core, shape, core.queries, core.value_dim, core.keys));
  out.push_back(pass("attention-layout", 2 * shape.element * output_elements(core, core.queries)));
}

void add_local_attention_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape) {
  if (core.flash) {
    list.input_grad(flash("flash-attention-backward", core, shape, true));
    return;
  }
  if (core.again) {
    std::vector<Segment> again;
    add_local_attention_forward(again, core, shape);
    add_again(list, again);
  }
  const std::int64_t q = core.queries, keys = core.keys, d = core.head_dim, v = core.value_dim;
  list.input_grad(pass("attention-layout-grad", 2 * shape.element * output_elements(core, q)));
  list.input_grad(unfused("attention-context-grad", core, shape, q, keys, v));
  list.input_grad(unfused("attention-values-grad", core, shape, keys, v, q));
  if (core.dropout) list.input_grad(pass("attention-dropout-grad", scores_of(core) * (2 * shape.element + 1)));
  if (core.fused_softmax) {
    list.input_grad(pass("softmax-grad", softmax_bytes(core, shape, 2)));
  } else {
    list.input_grad(pass("softmax-grad", unfused_softmax_bytes(core, shape) + 4 * scores_of(core), 5));
  }
  list.input_grad(unfused("attention-queries-grad", core, shape, q, d, keys));
  list.input_grad(unfused("attention-keys-grad", core, shape, keys, d, q));
}

}  // namespace stagecraft

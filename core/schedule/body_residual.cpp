// Norms, bias + dropout + residual, and the collectives at the borders of a tensor-parallel region. Under sequence
// parallelism norms and dropouts see tokens / t rows (arXiv 2205.05198, section 4.2.2).

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

// RMS norm as LLaMA's reference code writes it: to fp32, square, mean, scale, back to 16 bits, weight. Forward: x read,
// its fp32 copy written and read three times, square and result written and read, 16-bit results and weight product.
// Backward: each product's two gradients, in fp32.
double norm_elements(const BodyShape& shape) {
  return static_cast<double>(shape.norm_tokens) * static_cast<double>(shape.hidden);
}

}  // namespace

void add_norm_forward(std::vector<Segment>& out, const char* name, const BodyShape& shape) {
  if (shape.norm_in_passes) {
    out.push_back(pass(name, (5 * shape.element + 26) * norm_elements(shape), 6));
    return;
  }
  out.push_back(pass(name, 2 * shape.element * norm_elements(shape)));
}

void add_norm_backward(const BackwardList& list, const char* name, const char* weight_name, const BodyShape& shape) {
  if (shape.norm_in_passes) {
    list.input_grad(pass(name, (5 * shape.element + 60) * norm_elements(shape), 8));
    list.weight_grad(pass(weight_name, 2 * shape.element * norm_elements(shape)));
    return;
  }
  // Reads the gradient and the input, writes the input's gradient; the residual branch adds its own: two reads, one
  // write.
  list.input_grad(pass(name, 6 * shape.element * norm_elements(shape), 2));
  list.weight_grad(pass(weight_name, 2 * shape.element * norm_elements(shape)));
}

void add_residual_forward(std::vector<Segment>& out, const char* name, const BodyShape& shape, double dropout,
                          bool bias) {
  const double mask = dropout > 0 ? 1 : 0;
  const double e = shape.element;
  if (shape.fused) {
    out.push_back(pass(name, norm_elements(shape) * (3 * e + mask)));
    return;
  }
  const double bytes = 3 * e + (bias ? 2 * e : 0) + (dropout > 0 ? 2 * e + mask : 0);
  out.push_back(pass(name, norm_elements(shape) * bytes, 1 + (bias ? 1 : 0) + (dropout > 0 ? 1 : 0)));
}

void add_residual_backward(const BackwardList& list, const char* name, const char* bias_name, const BodyShape& shape,
                           double dropout, bool bias) {
  const double e = shape.element;
  if (dropout > 0) list.input_grad(pass(name, norm_elements(shape) * (2 * e + 1)));
  if (bias) list.weight_grad(pass(bias_name, norm_elements(shape) * e));
}

void enter_tensor_region(std::vector<Segment>& out, const char* name, const BodyShape& shape) {
  if (shape.sequence_parallel) {
    out.push_back(collective(name, CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
}

void leave_tensor_region(std::vector<Segment>& out, const char* name, const BodyShape& shape) {
  if (shape.tensor == 1) return;
  const CollectiveKind kind = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  out.push_back(collective(name, kind, Axis::tensor, whole_bytes(shape)));
}

}  // namespace stagecraft

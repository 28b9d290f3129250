#include "exec/model/mlp.hpp"

namespace stagecraft {

namespace {

at::Tensor apply(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::gelu:
      return at::gelu(x, "tanh");
    case Activation::relu:
      return at::relu(x);
    case Activation::silu:
      return at::silu(x);
  }
  return x;
}

at::Tensor differentiate(Activation activation, const at::Tensor& g, const at::Tensor& x) {
  switch (activation) {
    case Activation::gelu:
      return at::gelu_backward(g, x, "tanh");
    case Activation::relu:
      return at::threshold_backward(g, x, 0);
    case Activation::silu:
      return at::silu_backward(g, x);
  }
  return g;
}

at::Tensor activate_gated(const at::Tensor& u, const ModelShape& shape, Tape* tape) {
  const std::int64_t inner = u.size(1) / 2;
  at::Tensor gate = apply(shape.activation, u.narrow(1, 0, inner));
  at::Tensor y = at::mul(gate, u.narrow(1, inner, inner));
  if (shape.fused) gate.reset();  // made again in the backward, as a fused kernel does
  if (tape != nullptr) {
    tape->push([u, kept = gate, activation = shape.activation](const at::Tensor& g, Backward&) {
      const std::int64_t half = u.size(1) / 2;
      const at::Tensor gate_input = u.narrow(1, 0, half), up = u.narrow(1, half, half);
      at::Tensor du = at::empty_like(u);
      at::Tensor d_up = du.narrow(1, half, half);
      at::mul_out(d_up, g, kept.defined() ? kept : apply(activation, gate_input));
      du.narrow(1, 0, half).copy_(differentiate(activation, at::mul(g, up), gate_input));
      return du;
    });
  }
  return y;
}

}  // namespace

at::Tensor activate(const at::Tensor& u, const ModelShape& shape, Tape* tape) {
  if (shape.gated) return activate_gated(u, shape, tape);
  at::Tensor y = apply(shape.activation, u);
  if (tape != nullptr) {
    // ReLU's derivative can be read off its output, which the next layer keeps anyway.
    tape->push([kept = shape.activation == Activation::relu ? y : u, activation = shape.activation](
                   const at::Tensor& g, Backward&) { return differentiate(activation, g, kept); });
  }
  return y;
}

}  // namespace stagecraft

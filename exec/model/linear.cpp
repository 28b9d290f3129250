#include "exec/model/linear.hpp"

namespace stagecraft {

void add_weight_gradient(const Parameter& weight, const at::Tensor& x, const at::Tensor& g) {
  const at::Tensor& sum = weight.gradient;
  if (sum.scalar_type() == g.scalar_type()) {
    sum.addmm_(g.t(), x);
  } else {
    sum.add_(at::mm(g.t(), x));
  }
}

void add_bias_gradient(const Parameter& bias, const at::Tensor& g) {
  const at::Tensor& sum = bias.gradient;
  sum.add_(g.sum(0, /*keepdim=*/false, sum.scalar_type()));
}

namespace {

at::Tensor multiply(const Linear& linear, const at::Tensor& x) {
  const at::Tensor weight = linear.weight->value.t();
  return linear.bias == nullptr ? at::mm(x, weight) : at::addmm(linear.bias->value, x, weight);
}

}  // namespace

at::Tensor column_linear(const Linear& linear, const at::Tensor& x, TensorGroup& group, Tape* tape) {
  at::Tensor y = multiply(linear, group.enter(x));
  if (tape != nullptr) {
    tape->push([linear, x, &group](at::Tensor g, Backward& backward) {
      at::Tensor dx = group.leave(at::mm(g, linear.weight->value));
      backward.weights.add([linear, x, g = std::move(g), &group] {
        add_weight_gradient(*linear.weight, group.enter(x), g);
        if (linear.bias != nullptr) add_bias_gradient(*linear.bias, g);
      });
      return dx;
    });
  }
  return y;
}

at::Tensor row_linear(const Linear& linear, const at::Tensor& x, TensorGroup& group, Tape* tape) {
  at::Tensor y = group.leave(at::mm(x, linear.weight->value.t()));
  if (linear.bias != nullptr) y.add_(linear.bias->value);
  if (tape != nullptr) {
    tape->push([linear, x, &group](at::Tensor g, Backward& backward) {
      const at::Tensor whole = group.enter(g);
      at::Tensor dx = at::mm(whole, linear.weight->value);
      backward.weights.add([linear, x, g = std::move(g), whole] {
        add_weight_gradient(*linear.weight, x, whole);
        if (linear.bias != nullptr) add_bias_gradient(*linear.bias, g);
      });
      return dx;
    });
  }
  return y;
}

}  // namespace stagecraft

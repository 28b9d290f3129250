#include "exec/model/norm.hpp"

#include <ATen/ops/rsqrt.h>

namespace stagecraft {

namespace {

at::Tensor layer_norm(const NormLayer& norm, const at::Tensor& x, Tape* tape) {
  const std::int64_t width = x.size(1);
  auto [y, mean, reciprocal] =
      at::native_layer_norm(x, at::IntArrayRef(&width, 1), norm.weight->value, norm.bias->value, norm.epsilon);
  if (tape != nullptr) {
    tape->push([norm, x, mean = mean, reciprocal = reciprocal](const at::Tensor& g, Backward&) {
      const std::int64_t columns = x.size(1);
      auto [dx, dw, db] = at::native_layer_norm_backward(g, x, at::IntArrayRef(&columns, 1), mean, reciprocal,
                                                         norm.weight->value, norm.bias->value, {true, true, true});
      norm.weight->gradient.add_(dw);
      norm.bias->gradient.add_(db);
      return dx;
    });
  }
  return y;
}

at::Tensor wide(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
}

// y = w x r with r = 1 / sqrt(mean(x^2) + eps); dx = r (wg - x r^2 mean(wg x)).
at::Tensor rms_norm(const NormLayer& norm, const at::Tensor& x, Tape* tape) {
  const at::Tensor xw = wide(x);
  const at::Tensor reciprocal = at::rsqrt(at::mul(xw, xw).mean(1, /*keepdim=*/true).add_(norm.epsilon));
  at::Tensor y = at::mul(xw, reciprocal).to(x.scalar_type()).mul_(norm.weight->value);
  if (tape != nullptr) {
    tape->push([norm, x, reciprocal](const at::Tensor& g, Backward&) {
      const at::Tensor scaled = at::mul(wide(x), reciprocal);
      const at::Tensor gw = wide(g);
      norm.weight->gradient.add_(at::mul(gw, scaled).sum(0));
      at::Tensor dx = at::mul(gw, norm.weight->value);
      const at::Tensor mean = at::mul(dx, scaled).mean(1, /*keepdim=*/true);
      return dx.sub_(at::mul(scaled, mean)).mul_(reciprocal).to(x.scalar_type());
    });
  }
  return y;
}

}  // namespace

at::Tensor normalise(const NormLayer& norm, const at::Tensor& x, Tape* tape) {
  return norm.kind == Norm::layer_norm ? layer_norm(norm, x, tape) : rms_norm(norm, x, tape);
}

}  // namespace stagecraft

// Models that are a plain list of layers: multi-layer perceptrons with ReLU and a squared error.

#include <cmath>

#include "exec/model/loss.hpp"
#include "exec/model/parameter_makers.hpp"

namespace stagecraft {

namespace {

class PlainLayer final : public ModelLayer {
 public:
  PlainLayer(std::int32_t index, std::int64_t in, std::int64_t out, bool last, const ModelShape& shape,
             TensorGroup& group, ParameterList& parameters)
      : group_(group), checkpointed_(shape.recompute == Recompute::full), last_(last) {
    // Keeps the variance of ReLU layers (arXiv 1502.01852).
    const double deviation = std::sqrt(2.0 / static_cast<double>(in));
    const std::string name = "layer" + std::to_string(index);
    linear_ = make_column_linear(name, {{name, out}}, in, true, deviation, group, parameters);
  }

  at::Tensor forward(const at::Tensor& x, const Batch& batch, Tape* tape) override {
    const at::Tensor& input = x.defined() ? x : batch.samples;
    if (tape == nullptr || !checkpointed_) return run(input, batch, tape);
    tape->push([this, input, batch](at::Tensor g, Backward& backward) {
      Tape again;
      const double begin_s = now_s();
      run(input, batch, &again);
      backward.recompute_s += now_s() - begin_s;
      return again.run(std::move(g), backward);
    });
    return run(input, batch, nullptr);
  }

 private:
  at::Tensor run(const at::Tensor& x, const Batch& batch, Tape* tape) {
    at::Tensor y = column_linear(linear_, x, group_, tape);
    if (last_) return mean_squared_error(y, batch.targets, tape);
    at::Tensor activated = at::relu(y);
    if (tape != nullptr) {
      tape->push([activated](const at::Tensor& g, Backward&) { return at::threshold_backward(g, activated, 0); });
    }
    return activated;
  }

  TensorGroup& group_;
  bool checkpointed_, last_;
  Linear linear_;
};

}  // namespace

LayerPtr make_plain(std::int32_t index, std::int64_t in, std::int64_t out, bool last, const ModelShape& shape,
                    TensorGroup& group, ParameterList& parameters) {
  return std::make_unique<PlainLayer>(index, in, out, last, shape, group, parameters);
}

}  // namespace stagecraft

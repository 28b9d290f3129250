// The backward passes, which are written out by hand, against difference quotients in fp64.

#include <catch2/catch.hpp>
#include <cmath>

#include "exec/run/support.hpp"
#include "exec/transport/in_process.hpp"
#include "reference.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

/// One micro-batch through a whole model on one rank.
struct OneRank {
  Plan plan;
  InProcessJob job{1, {}};
  TensorGroup group;
  ModelShape shape;
  std::unique_ptr<StageModel> model;
  StageBuffers buffers;
  Batch batch;

  explicit OneRank(const Plan& given) : plan(given) {
    Transport& transport = job.transport(0);
    const Group self = transport.make_group({0});
    ExecuteOptions options;
    options.numbers = at::kDouble;
    shape = model_shape(plan, at::kDouble, at::kCPU);
    model = make_stage_model(plan, Stage(0), shape, group, TiedCopy::none, nullptr);
    buffers = make_stage_buffers(*model, buffer_policy(plan, options), transport, self, self, true);
    // Larger weights than training starts from, so that every path carries a gradient worth comparing.
    buffers.values.mul_(10);
    const TokenSource tokens(std::max<std::int64_t>(plan.model.vocabulary, 1), plan.run.sequence_length, 3);
    batch = plan.model.plain_layers.empty() ? make_batch(plan, shape, tokens, 0, 0, 0)
                                            : make_plain_batch(plan, shape, 3, 0, 0, 0);
  }

  double loss() { return run_forward(*model, {}, batch, nullptr).item<double>(); }

  void backward(bool split) {
    prepare_gradients(buffers);
    Tape tape;
    run_forward(*model, {}, batch, &tape);
    WeightGradients weights(split);
    Backward back{weights, {}, 0};
    tape.run(at::ones({}, at::TensorOptions().dtype(at::kDouble)), back);
    if (split) weights.run();
  }
};

void check_gradients(const Plan& plan) {
  OneRank one(plan);
  CAPTURE(plan.model.name, to_text(plan.run.attention_kernel), to_text(plan.run.recompute));
  one.backward(false);
  const double step = 1e-6;
  for (Parameter& parameter : one.model->parameters) {
    CAPTURE(parameter.name);
    const at::Tensor value = parameter.value.view({-1}), gradient = parameter.gradient.view({-1});
    for (const std::int64_t at : {std::int64_t{0}, parameter.elements() / 2, parameter.elements() - 1}) {
      CAPTURE(at);
      const double kept = value[at].item<double>();
      value[at].fill_(kept + step);
      const double above = one.loss();
      value[at].fill_(kept - step);
      const double below = one.loss();
      value[at].fill_(kept);
      CHECK(gradient[at].item<double>() == Approx((above - below) / (2 * step)).epsilon(1e-5).margin(1e-8));
    }
  }
}

Plan with(const ModelSpec& model, AttentionKernel kernel, Recompute recompute, bool fused = true) {
  Plan plan = tiny_plan(model, {});
  plan.run.attention_kernel = kernel;
  plan.run.recompute = recompute;
  plan.run.fused_kernels = fused;
  return plan;
}

}  // namespace

TEST_CASE("Gradients of every kind of layer agree with difference quotients") {
  for (const ModelSpec& model : {tiny_gpt(2), tiny_llama(2)}) {
    check_gradients(with(model, AttentionKernel::unfused, Recompute::none));
    check_gradients(with(model, AttentionKernel::unfused, Recompute::selective, false));
    check_gradients(with(model, AttentionKernel::fused_softmax, Recompute::full));
    check_gradients(with(model, AttentionKernel::flash_2, Recompute::none));
  }
  ModelSpec relu = tiny_gpt(1);
  relu.mlp.activation = Activation::relu;
  relu.tied_embeddings = true;
  check_gradients(with(relu, AttentionKernel::unfused, Recompute::none));
  check_gradients(tiny_plan(tiny_mlp(3), {}));
}

TEST_CASE("Input and weight gradients apart give the bits of the full backward") {
  OneRank fused(tiny_plan(tiny_llama(2), {})), split(tiny_plan(tiny_llama(2), {}));
  fused.backward(false);
  split.backward(true);
  WholeTensors a, b;
  add_pieces(fused.buffers, true, a);
  add_pieces(split.buffers, true, b);
  CHECK(bit_equal(a, b));
}

TEST_CASE("Initial values depend on the global name and place alone, not on the layout") {
  Parameter whole;
  whole.rows = 8;
  whole.columns = 6;
  whole.deviation = 0.02;
  whole.pieces = {{"w", 8, 6, 0, 8, 0, 6, 0}};
  Parameter part = whole;
  part.rows = 4;
  part.columns = 3;
  part.pieces = {{"w", 8, 6, 4, 4, 3, 3, 0}};
  const at::Tensor all = at::empty({8, 6}), lower_right = at::empty({4, 3});
  fill_initial(whole, 7, all);
  fill_initial(part, 7, lower_right);
  CHECK(all.narrow(0, 4, 4).narrow(1, 3, 3).equal(lower_right));
  Parameter other = whole;
  other.pieces[0].name = "v";
  const at::Tensor different = at::empty({8, 6});
  fill_initial(other, 7, different);
  CHECK_FALSE(all.equal(different));
}

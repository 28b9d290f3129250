// Blocks of other kinds: flash attention, gated MLPs, grouped-query attention, other dtypes, what W still needs.
#include <string_view>

#include "memory/activations.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

double bytes_of_row(const LocalShape& shape, std::string_view name) {
  double sum = 0;
  for (const SavedTensor& row : block_tensors(shape)) {
    if (row.name == name) sum += bytes_on_rank(shape, row.elements, row.dtype, row.shard).value;
  }
  return sum;
}

LocalShape shape_of(const ModelSpec& model, AttentionKernel kernel, Precision precision = Precision::bf16_mixed) {
  Layout layout;
  layout.kernel = kernel;
  layout.precision = precision;
  return local_shape(plan_of(model, layout));
}

}  // namespace

TEST_CASE("flash attention keeps no scores but one fp32 log-sum-exp per query and head") {
  const LocalShape shape = shape_of(gpt(1024, 16, 2, 256, 1024), AttentionKernel::flash_2);
  CHECK(bytes_of_row(shape, "softmax output") == 0);
  CHECK(bytes_of_row(shape, "attention dropout mask") == 0);
  CHECK(bytes_of_row(shape, "attention log-sum-exp") == 4 * 16 * 256);
  const double tokens = 256, h = 1024;
  const double statistics = 2 * 2 * 4 * tokens;
  CHECK(activations_of(shape, block_tensors(shape), Recompute::none).kept.value ==
        34 * tokens * h + 4 * 16 * tokens + statistics);
}

TEST_CASE("without dropout no masks are kept") {
  ModelSpec model = gpt(1024, 16, 2, 256, 1024);
  model.dropout = 0;
  const LocalShape fused = shape_of(model, AttentionKernel::fused_softmax);
  const double tokens = 256, h = 1024, scores = 16 * 256 * 256, statistics = 16 * tokens;
  CHECK(activations_of(fused, block_tensors(fused), Recompute::none).kept.value ==
        32 * tokens * h + 2 * scores + statistics);
}

TEST_CASE("an unfused softmax keeps its fp32 output beside the 16-bit probabilities") {
  ModelSpec model = gpt(1024, 16, 2, 256, 1024);
  model.dropout = 0;
  const LocalShape shape = shape_of(model, AttentionKernel::unfused);
  const double scores = 16 * 256 * 256;
  CHECK(bytes_of_row(shape, "softmax output") == 4 * scores);
  CHECK(bytes_of_row(shape, "attention probabilities") == 2 * scores);
}

TEST_CASE("a Llama block with 8 of 32 key-value heads keeps what its shapes say") {
  // h = 4096, f = 11008, s = 128, head width 128, RMSNorm, SwiGLU, flash attention, bf16.
  const LocalShape shape = shape_of(llama(4096, 32, 8, 11008, 2, 128, 32000), AttentionKernel::flash_2);
  const double tokens = 128, h = 4096, kv = 1024, f = 11008;
  const double norms = 2 * (2 * tokens * h + 4 * tokens);                         // inputs, one deviation per token
  const double attention = 2 * tokens * (h + h + kv + kv + h) + 4 * 32 * tokens;  // input, q, k, v, output; log-sum-exp
  const double mlp = 2 * tokens * (h + 2 * f + f);                                // input, gate and up, product
  CHECK(activations_of(shape, block_tensors(shape), Recompute::none).kept.value == norms + attention + mlp);
}

TEST_CASE("an unfused SwiGLU keeps the activated gate as well") {
  Plan plan = plan_of(llama(4096, 32, 8, 11008, 2, 128, 32000), {});
  plan.run.fused_kernels = false;
  CHECK(bytes_of_row(local_shape(plan), "activated gate") == 2.0 * 128 * 11008);
  plan.run.fused_kernels = true;
  CHECK(bytes_of_row(local_shape(plan), "activated gate") == 0);
}

TEST_CASE("ReLU needs its output only, which is the next layer's input") {
  ModelSpec model = gpt(1024, 16, 2, 256, 1024);
  const double with_gelu = bytes_of_row(shape_of(model, AttentionKernel::flash_2), "mlp activation input");
  model.mlp.activation = Activation::relu;
  CHECK(with_gelu == 2.0 * 256 * 4096);
  CHECK(bytes_of_row(shape_of(model, AttentionKernel::flash_2), "mlp activation input") == 0);
}

TEST_CASE("fp32 doubles, fp8 halves what linear layers keep of their inputs") {
  const ModelSpec model = llama(4096, 32, 8, 11008, 2, 128, 32000);
  const double bf16 = bytes_of_row(shape_of(model, AttentionKernel::flash_2), "mlp down input");
  CHECK(bytes_of_row(shape_of(model, AttentionKernel::fused_softmax, Precision::fp32), "mlp down input") == 2 * bf16);
  CHECK(bytes_of_row(shape_of(model, AttentionKernel::flash_2, Precision::fp8_mixed), "mlp down input") == bf16 / 2);
  CHECK(bytes_of_row(shape_of(model, AttentionKernel::flash_2, Precision::fp8_mixed), "query") == 2.0 * 128 * 4096);
}

TEST_CASE("between I and W a block holds input and output gradient of its four linear layers") {
  const LocalShape shape = shape_of(gpt(1024, 16, 2, 256, 1024), AttentionKernel::fused_softmax);
  const double sbh = 256 * 1024;
  const double inputs = 2 + 2 + 2 + 8;  // qkv, projection, up, down, in units of sbh bytes
  const double gradients = 6 + 2 + 8 + 2;
  const Bytes held = activations_of(shape, block_tensors(shape), Recompute::none).held_by_weight_grad;
  CHECK(held.value == (inputs + gradients) * sbh);
  // The same whatever is recomputed: W multiplies with the inputs that I has restored.
  CHECK(activations_of(shape, block_tensors(shape), Recompute::full).held_by_weight_grad.value == held.value);
}

TEST_CASE("tensor parallelism leaves whole what row-parallel layers give back") {
  Layout layout;
  layout.tensor = 4;
  const LocalShape shape = local_shape(plan_of(gpt(1024, 16, 2, 256, 1024), layout));
  const double sbh = 256 * 1024;
  // Inputs of column-parallel layers and gradients of row-parallel outputs are whole, the others divided by 4.
  CHECK(activations_of(shape, block_tensors(shape), Recompute::none).held_by_weight_grad.value ==
        (2 + 2 + 2 + 2) * sbh + (2 + 8 + 6 + 8) * sbh / 4);
}

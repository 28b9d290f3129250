// Blocks that are not the usual one: a decoder's attention to an encoder, modules of multi-token prediction, second
// norms, norms of queries and keys; each tensor by hand.
#include "memory/activations.hpp"
#include "memory/footprint.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

constexpr double h = 64, heads = 4, s = 32,
                 encoder = 16;  // micro-batch 1, bf16, flash attention, LayerNorm, no dropout
constexpr double norm_input = 2 * s * h, statistics = 2 * 4 * s;

ModelSpec small(std::int64_t blocks = 4) {
  ModelSpec model = gpt(64, 4, blocks, 32, 256);
  model.dropout = 0;
  return model;
}

Plan flash_plan(const ModelSpec& model) {
  Layout layout;
  layout.kernel = AttentionKernel::flash_2;
  layout.precision = Precision::bf16_mixed;
  return plan_of(model, layout);
}

double kept(const LocalShape& shape, const BlockKind& kind) {
  return activations_of(shape, block_tensors(shape, kind), Recompute::none).kept.value;
}

}  // namespace

TEST_CASE("a decoder block keeps its attention to the encoder beside its own") {
  ModelSpec model = small();
  model.encoder_blocks = 2;
  model.encoder_sequence_length = 16;
  const LocalShape shape = local_shape(flash_plan(model));
  const double cross = norm_input + statistics  // norm
                       + 2 * s * h              // input of the queries
                       + 2 * s * h              // queries
                       + 2 * 2 * encoder * h    // keys and values
                       + 4 * s * heads          // log-sum-exp
                       + 2 * s * h;             // input of the projection
  CHECK(kept(shape, {.cross = true}) - kept(shape, {}) == cross);
}

TEST_CASE("an encoder's blocks keep what the length of its own sequence says") {
  ModelSpec model = small();
  model.encoder_blocks = 2;
  model.encoder_sequence_length = 16;
  const Plan plan = flash_plan(model);
  const LocalShape shape = local_shape(plan), own = encoder_shape_of(plan, shape);
  CHECK(own.tokens == encoder);
  CHECK(kept(own, {.encoder = true}) * 2 == kept(shape, {}));
}

TEST_CASE("a stage of an encoder-decoder keeps each block's tensors and the encoder's output once") {
  ModelSpec model = small();
  model.encoder_blocks = 2;
  model.encoder_sequence_length = 16;
  const Plan plan = flash_plan(model);
  const LocalShape shape = local_shape(plan), own = encoder_shape_of(plan, shape);
  const double ends = activations_of(shape, embedding_tensors(shape), Recompute::none).kept.value +
                      activations_of(shape, head_tensors(shape), Recompute::none).kept.value;
  CHECK(stage_memory(plan, Stage(0)).activation_per_micro_batch.value ==
        ends + 2 * kept(own, {.encoder = true}) + 2 * kept(shape, {.cross = true}) + 2 * encoder * h);
}

TEST_CASE("a second norm behind attention and MLP keeps what enters it") {
  ModelSpec model = small();
  const double without = kept(local_shape(flash_plan(model)), {});
  model.post_norms = true;
  CHECK(kept(local_shape(flash_plan(model)), {}) - without == 2 * (norm_input + statistics));
}

TEST_CASE("norms of queries and keys keep both as they were before") {
  ModelSpec model = small();
  const double without = kept(local_shape(flash_plan(model)), {});
  model.attention.qk_norm = true;
  CHECK(kept(local_shape(flash_plan(model)), {}) - without == 2 * 2 * s * h + 4 * s * 2 * heads);
}

TEST_CASE("a module of multi-token prediction keeps its two inputs and runs head and loss once more") {
  ModelSpec model = small();
  const StageMemory without = stage_memory(flash_plan(model), Stage(0));
  model.prediction_modules = 1;
  const Plan plan = flash_plan(model);
  const LocalShape shape = local_shape(plan);
  const StageMemory with = stage_memory(plan, Stage(0));
  const double prediction = 2 * norm_input    // last hidden state, embedding of the next token
                            + 2 * statistics  // of their norms
                            + 2 * s * 2 * h;  // both side by side
  CHECK(kept(shape, {.prediction = true}) - kept(shape, {}) == prediction);
  CHECK((with.activation_per_micro_batch - without.activation_per_micro_batch).value ==
        prediction + kept(shape, {}) + activations_of(shape, head_tensors(shape), Recompute::none).kept.value);
  CHECK(with.logits_per_micro_batch.value == 2 * without.logits_per_micro_batch.value);
}

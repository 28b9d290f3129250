// One block with experts and latent attention, worked out by hand: every parameter and every tensor of one rank.
//
// h = 64, a = 4 heads of 16 + 8 rotary, values of 16, latents 24 (query) and 12 (key, value); 8 experts of 32, two per
// token, a shared expert of 48, gated, no biases, RMSNorm; s = 32, micro-batch 2 (64 tokens), bf16, flash attention;
// 4 data ranks that share the experts (ep = 4), ZeRO-1.
#include "memory/activations.hpp"
#include "memory/footprint.hpp"
#include "plans.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

ModelSpec small_moe() {
  ModelSpec model = llama(64, 4, 4, 128, 2, 32, 256);
  model.attention.head_dim = 16;
  model.attention.latent = {24, 12, 8, 16};
  model.moe = {8, 2, 32, 48, 1, 0};
  return model;
}

Plan moe_plan(double capacity_factor = 0) {
  ModelSpec model = small_moe();
  model.moe.capacity_factor = capacity_factor;
  Layout layout;
  layout.data = 4;
  layout.micro_batch = 2;
  layout.kernel = AttentionKernel::flash_2;
  layout.precision = Precision::bf16_mixed;
  layout.zero_stage = 1;
  Plan plan = plan_of(model, layout);
  plan.run.parallel.expert = 4;
  return plan;
}

constexpr double attention = 64 * 24 + 24 + 24 * 4 * 24  // query: down, norm, up to 4 x (16 + 8)
                             + 64 * (12 + 8) + 12        // common latent with its rotary part, norm
                             + 12 * 4 * (16 + 16)        // keys and values
                             + 4 * 16 * 64;              // projection
constexpr double norms = 2 * 64;
constexpr double router = 64 * 8;
constexpr double one_expert = 3 * 64 * 32;
constexpr double shared_expert = 3 * 64 * 48;
constexpr double dense_mlp = 3 * 64 * 128;

}  // namespace

TEST_CASE("a block with experts has the parameters of its tensors, its experts spread over the expert group") {
  const Plan plan = moe_plan();
  const auto tensors = parameter_tensors(plan, {LayerKind::block, 1});
  const ParameterCount all = count_on_rank(tensors, 1, 1), spread = count_on_rank(tensors, 1, 4);
  CHECK(all.dense == attention + norms + router + shared_expert);
  CHECK(all.expert == 8 * one_expert);
  CHECK(spread.expert == 2 * one_expert);
  CHECK(spread.dense == all.dense);
  CHECK(parameters_of(plan.model, {LayerKind::block, 1}) == all.all());
  // The first block is dense.
  CHECK(count_on_rank(parameter_tensors(plan, {LayerKind::block, 0}), 1, 4).all() == attention + norms + dense_mlp);
}

TEST_CASE("biases of experts are theirs: each expert's, whole on every rank of its group behind the second product") {
  Plan plan = moe_plan();
  plan.model.mlp.bias = true;
  const auto tensors = parameter_tensors(plan, {LayerKind::block, 1});
  const double up = 2 * 32, down = 64;
  CHECK(count_on_rank(tensors, 1, 4).expert == 2 * (one_expert + up + down));
  CHECK(count_on_rank(tensors, 1, 4, 2).expert == 2 * ((one_expert + up) / 2 + down));
  CHECK(parameters_of(plan.model, {LayerKind::block, 1}) == count_on_rank(tensors, 1, 1).all());
}

TEST_CASE("a clamp by a kernel of its own keeps what entered it and what it gave, unless the activation runs again") {
  const auto kept = [](double clamp, RecomputeModules modules) {
    Plan plan = moe_plan();
    plan.model.mlp.clamp = clamp;
    plan.run.recompute = Recompute::selective;
    plan.run.recompute_modules = modules;
    const LocalShape shape = local_shape(plan);
    return activations_of(shape, block_tensors(shape, {.experts = true}), Recompute::selective).kept.value;
  };
  const RecomputeModules nothing{.core_attention = false}, activation{.core_attention = false, .activation = true};
  const double before_activation = 2.0 * (64 * 2 * 32 + 64 * 48);  // routed rows and the shared expert's, both halves
  CHECK(kept(7, nothing) - kept(0, nothing) == 2 * before_activation);
  CHECK(kept(7, activation) == kept(0, activation));
}

TEST_CASE("expert states are sharded over the ranks that hold the same experts only") {
  const Plan plan = moe_plan();
  ParameterCount count;
  count.expert = 1000;
  // Four data ranks, all of them with experts of their own: nothing is left to shard over.
  CHECK(at(resident_states(plan, count).gpu, MemoryClass::optimizer_states).value == 12 * 1000);
  count = {};
  count.dense = 1000;
  CHECK(at(resident_states(plan, count).gpu, MemoryClass::optimizer_states).value == 12 * 1000 / 4);
}

TEST_CASE("a block with experts keeps the tensors of latent attention, router, experts and shared expert") {
  const Plan plan = moe_plan();
  const LocalShape shape = local_shape(plan);
  constexpr double tokens = 64, routed = 64 * 2;
  const double kept = 2 * tokens * 64            // attention norm input
                      + 4 * tokens               // its statistic
                      + 2 * tokens * 64          // input of both latents
                      + 2 * 2 * tokens * 24      // query latent before and after its norm
                      + 2 * 2 * tokens * 12      // key-value latent before and after its norm
                      + 2 * 2 * tokens * 4 * 24  // query and key with their rotary parts
                      + 2 * tokens * 4 * 16      // value
                      + 4 * tokens * 4           // log-sum-exp
                      + 2 * tokens * 4 * 16      // projection input
                      + 2 * tokens * 64          // mlp norm input
                      + 4 * tokens               // its statistic
                      + 2 * tokens * 64          // router and expert input
                      + 4 * tokens * 8           // router probabilities, fp32
                      + tokens * 8               // routing map
                      + 8 * routed               // row of each routed token
                      + 2 * routed * 64          // tokens as the experts get them
                      + 2 * routed * 2 * 32      // gate and up
                      + 2 * routed * 32          // input of down
                      + 2 * tokens * 2 * 48      // shared expert: gate and up
                      + 2 * tokens * 48;         // input of its down
  CHECK(activations_of(shape, block_tensors(shape, {.experts = true}), Recompute::none).kept.value == kept);
  // Queries, keys and values projected up again.
  Plan projecting = plan;
  projecting.run.recompute_modules = {.core_attention = false, .latent_up_projection = true};
  CHECK(activations_of(local_shape(projecting), block_tensors(shape, {.experts = true}), Recompute::selective)
            .kept.value == kept - 2 * 2 * tokens * 4 * 24 - 2 * tokens * 4 * 16);
  // Full recompute leaves the block's input.
  CHECK(activations_of(shape, block_tensors(shape, {.experts = true}), Recompute::full).kept.value == 2 * tokens * 64);
}

TEST_CASE("a capacity factor scales what the experts are sent, dropless takes the even share") {
  CHECK(routed_tokens(local_shape(moe_plan())) == 128);
  CHECK(routed_tokens(local_shape(moe_plan(1.25))) == 160);
}

TEST_CASE("what is copied to the host is what the memory model says leaves the GPU, whatever the block") {
  const auto both = [](ModelSpec model, std::int64_t tensor) {
    Layout layout;
    layout.tensor = tensor;
    layout.sequence_parallel = tensor > 1;
    layout.micro_batch = 2;
    layout.kernel = AttentionKernel::flash_2;
    layout.precision = Precision::bf16_mixed;
    Plan plan = plan_of(std::move(model), layout);
    plan.run.offload.activations = Home::host;
    const double copied = copied_bytes(plan, OpKind::offload, Stage(0)).value;
    return std::pair{copied, stage_memory(plan, Stage(0)).offloaded_per_micro_batch.value};
  };
  ModelSpec dense = llama(512, 8, 2, 1376, 4, 1024, 1024), clamped = dense, experts = dense, latent = dense;
  clamped.mlp.clamp = 7;
  experts.moe = {8, 2, 512, 704, 1, 0};
  latent.attention.latent = {192, 128, 32, 64};
  for (const ModelSpec& model : {dense, clamped, experts, latent}) {
    for (const std::int64_t tensor : {1, 2}) {
      const auto [copied, leaves] = both(model, tensor);
      CAPTURE(model.moe.experts, model.mlp.clamp, model.attention.latent.kv_rank, tensor);
      CHECK(copied == Approx(leaves).epsilon(0.02));
    }
  }
}

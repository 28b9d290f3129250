// A layer of multi-head latent attention with DeepSeek-V3's widths, derived by hand: hidden 7168, 128 heads, query rank
// 1536, key-value rank 512, 128 + 64 wide queries and keys, 128 wide values; 4096 tokens.
#include <algorithm>
#include <catch2/catch.hpp>

#include "body_plans.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double tokens = 4096, h = 7168, heads = 128;

Scenario latent() {
  Scenario scenario = dense_scenario();
  ModelSpec& model = scenario.model;
  model.hidden = 7168;
  model.sequence_length = 4096;
  model.positions = Positions::rotary;
  model.attention.heads = 128;
  model.attention.kv_heads = 128;
  model.attention.head_dim = 128;
  model.attention.latent = {1536, 512, 64, 128};
  scenario.run.sequence_length = 4096;
  scenario.run.batch = {1, 1};
  scenario.run.attention_kernel = AttentionKernel::flash_2;
  return scenario;
}

}  // namespace

TEST_CASE("latent attention projects down, up and out") {
  const BodyPart block = block_of(latent(), OpKind::forward);
  const auto flops = [&](const char* name) { return kernel_of(block, name).flops.value; };
  CHECK(flops("query-down") == 2 * tokens * h * 1536);
  CHECK(flops("query-up") == 2 * tokens * 1536 * heads * 192);
  CHECK(flops("key-value-down") == 2 * tokens * h * (512 + 64));
  CHECK(flops("key-value-up") == 2 * tokens * 512 * heads * (128 + 128));
  CHECK(flops("attention-projection") == 2 * tokens * heads * 128 * h);
  // Scores over 192, outputs over 128, half of the square under the causal mask.
  CHECK(flops("flash-attention") == heads * tokens * tokens / 2 * 2 * (192 + 128));
  // Q and K of 192, V and O of 128 per head and token, two bytes each.
  CHECK(kernel_of(block, "flash-attention").bytes.value == 2 * tokens * heads * (192 + 192 + 128 + 128));
}

TEST_CASE("latents projected up again cost their two products and the assembly of queries and keys once more") {
  Scenario scenario = latent();
  scenario.run.recompute = Recompute::selective;
  scenario.run.recompute_modules = {.core_attention = false, .latent_up_projection = true};
  const BodyPart again = block_of(scenario, OpKind::backward), forward = block_of(latent(), OpKind::forward);
  for (const char* name : {"query-up", "key-value-up", "rotary"}) {
    CHECK(kernel_of(again, name).flops.value == kernel_of(forward, name).flops.value);
    CHECK(kernel_of(again, name).bytes.value == kernel_of(forward, name).bytes.value);
  }
}

TEST_CASE("the backward of latent attention has two products per weight and five per pair") {
  const BodyPart block = block_of(latent(), OpKind::backward);
  const double down = 2 * tokens * h * 1536;
  CHECK(kernel_of(block, "query-down-input-grad").flops.value == down);
  CHECK(kernel_of(block, "query-down-weight-grad").flops.value == down);
  // S, dQ and dK over 192; dP and dV over 128.
  CHECK(kernel_of(block, "flash-attention-backward").flops.value ==
        heads * tokens * tokens / 2 * 2 * (3 * 192 + 2 * 128));
}

TEST_CASE("under sequence parallelism the tensor group gathers latents, not the residual stream") {
  Scenario scenario = latent();
  scenario.run.parallel.tensor = 4;
  scenario.run.parallel.sequence_parallel = true;
  const BodyPart block = block_of(scenario, OpKind::forward);
  CHECK(bytes_of(block, "latent-all-gather") == 2 * tokens * (1536 + 512 + 64));
  CHECK(kernel_of(block, "query-down").m == 4096 / 4);  // whole weights, a slice of the tokens
  CHECK(kernel_of(block, "query-up").flops.value == 2 * tokens * 1536 * heads / 4 * 192);  // a slice of the heads
}

TEST_CASE("a module of multi-token prediction is a block with a projection, a head and a loss of its own") {
  Scenario scenario = latent();
  scenario.model.prediction_modules = 1;
  const Bodies bodies = make_bodies(make_plan(scenario));
  const Body& body = body_of(bodies, 0, OpKind::forward);
  const auto holds = [](const BodyPart& part, std::string_view name) {
    for (const Segment& segment : part.segments) {
      if (name == segment.name) return true;
    }
    return false;
  };
  const auto module = std::find_if(body.parts.begin(), body.parts.end(),
                                   [&](const BodyPart& part) { return holds(part, "prediction-projection"); });
  REQUIRE(module != body.parts.end());
  CHECK(module->repeat == 1);
  CHECK(kernel_of(*module, "prediction-projection").flops.value == 2 * tokens * h * 2 * h);
  CHECK(kernel_of(*module, "head").flops.value == 2 * tokens * h * 8192);
}

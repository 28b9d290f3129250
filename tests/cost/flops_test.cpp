#include "cost/flops.hpp"

#include <catch2/catch.hpp>

#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

Scenario gpt(double hidden, std::int64_t blocks, std::int64_t heads) {
  Scenario scenario;
  ModelSpec& model = scenario.model;
  model.name = "gpt";
  model.hidden = static_cast<std::int64_t>(hidden);
  model.blocks = blocks;
  model.vocabulary = 51200;
  model.sequence_length = 2048;
  model.attention = {heads, heads, model.hidden / heads, true, true};
  model.mlp = {4 * model.hidden, false, Activation::gelu, true};
  scenario.run.sequence_length = 2048;
  scenario.run.precision = Precision::fp16_mixed;
  scenario.run.fp32_gradients = false;
  scenario.run.attention_kernel = AttentionKernel::fused_softmax;
  return scenario;
}

double flops(const char* convention, const Plan& plan) {
  return find_flop_convention(convention)->of_step(plan).value;
}

}  // namespace

TEST_CASE("the SC21 convention turns published TFLOP/s into published training days") {
  // arXiv 2104.04473, section 5: 175B parameters, batch 1536, 1024 GPUs at 140 TFLOP/s, 300 billion tokens in 34 days.
  Scenario scenario = gpt(12288, 96, 96);
  scenario.run.batch = {1536, 1};
  const Plan plan = make_plan(scenario);
  const double step_s = flops("megatron-sc21", plan) / (1024 * 140e12);
  const double days = step_s * 300e9 / (1536.0 * 2048) / 86400;
  CHECK(days == Approx(34).epsilon(0.03));  // the paper rounds, and leaves attention out of this figure
}

TEST_CASE("the Korthikanti convention turns published step times into published utilisation") {
  // arXiv 2205.05198, table 5: 530B in 37.83 s on 280 A100 is 56.0 % MFU, 175B in 13.75 s on 64 is 51.4 %.
  Scenario scenario = gpt(20480, 105, 128);
  scenario.run.batch = {280, 1};
  CHECK(flops("gemm-full-attention", make_plan(scenario)) / (280 * 37.83 * 312e12) == Approx(0.560).epsilon(0.005));
  scenario = gpt(12288, 96, 96);
  scenario.run.batch = {64, 1};
  CHECK(flops("gemm-full-attention", make_plan(scenario)) / (64 * 13.75 * 312e12) == Approx(0.514).epsilon(0.005));
}

TEST_CASE("with full recompute the hardware executes exactly what the SC21 formula counts") {
  Scenario scenario = gpt(6144, 40, 48);
  scenario.run.batch = {64, 2};
  scenario.run.recompute = Recompute::full;
  scenario.run.parallel.tensor = 8;
  scenario.run.parallel.data = 4;
  const Plan plan = make_plan(scenario);
  CHECK(hardware_flops_of_step(plan).value == Approx(flops("megatron-sc21", plan)).epsilon(1e-12));
}

TEST_CASE("without recompute the hardware executes three forward passes") {
  Scenario scenario = gpt(6144, 40, 48);
  scenario.run.batch = {64, 2};
  const Plan plan = make_plan(scenario);
  CHECK(hardware_flops_of_step(plan).value == Approx(flops("gemm-full-attention", plan)).epsilon(1e-12));
}

TEST_CASE("hardware FLOPs are never fewer than model FLOPs, with flash attention too") {
  Scenario scenario = gpt(4096, 32, 32);
  scenario.run.batch = {8, 1};
  scenario.run.attention_kernel = AttentionKernel::flash_2;
  const Plan plan = make_plan(scenario);
  const double again = 8 * 2048.0 * 32 * 2 * 2048 * 4096;  // the scores once more, 2 s h per token and block
  CHECK(hardware_flops_of_step(plan).value == Approx(flops("gemm-full-attention", plan) + again));
}

TEST_CASE("a ring executes what one rank would, and packed documents count as what they are") {
  Scenario scenario = gpt(2304, 24, 24);
  scenario.model.sequence_length = 4 * 2048;  // the longest
  scenario.run.attention_kernel = AttentionKernel::flash_2;
  scenario.run.parallel.data = 4;
  scenario.run.batch = {4, 1};
  const double apart = hardware_flops_of_step(make_plan(scenario)).value;
  scenario.run.parallel.data = 1;
  scenario.run.parallel.context = 4;
  const Plan ring = make_plan(scenario);
  CHECK(hardware_flops_of_step(ring).value == Approx(apart).epsilon(1e-6));
  CHECK(hardware_flops_of_step(ring).value >= flops("gemm-full-attention", ring) * (1 - 1e-9));
  scenario.run.parallel.context = 1;
  const double one_document = flops("gemm-full-attention", make_plan(scenario));
  scenario.run.sequence_length = 4 * 2048;
  scenario.run.batch = {1, 1, {{2048, 1}}};
  CHECK(flops("gemm-full-attention", make_plan(scenario)) == Approx(one_document));
  CHECK(hardware_flops_of_step(make_plan(scenario)).value == Approx(apart).epsilon(1e-6));
}

TEST_CASE("half of the attention separates the causal convention from the full one") {
  Scenario scenario = gpt(4096, 32, 32);
  scenario.run.batch = {8, 1};
  const Plan plan = make_plan(scenario);
  const double tokens = 8 * 2048;
  const double half = 3 * tokens * 32 * 2 * 2048 * 4096;  // 3 x (4 s h / 2) per token and block
  CHECK(flops("gemm-full-attention", plan) - flops("causal-attention", plan) == Approx(half));
  CHECK(flops("6n-attention", plan) - flops("6n", plan) == Approx(tokens * 12 * 32 * 4096 * 2048));
}

TEST_CASE("an encoder's tokens are counted where it sees them, and nothing of its attention is masked") {
  Scenario scenario = gpt(1024, 4, 16);
  scenario.model.encoder_blocks = 2;
  scenario.model.encoder_sequence_length = 512;
  scenario.run.batch = {8, 1};
  const double e = 512, d = 2048, h = 1024, v = static_cast<double>(scenario.model.vocabulary);
  const double encoder = 24 * e * h * h + 4 * e * e * h;  // products with weights of 12 h^2, whole square
  const double decoder = 24 * d * h * h + 4 * d * d * h;  // the same of its own length
  const double cross =
      4 * d * h * h + 4 * e * h * h + 4 * d * e * h;  // queries and projection, keys and values, scores
  const Plan plan = make_plan(scenario);
  CHECK(flops("gemm-full-attention", plan) == Approx(3 * 8 * (2 * encoder + 2 * (decoder + cross) + 2 * d * h * v)));
  CHECK(flops("gemm-full-attention", plan) - flops("causal-attention", plan) == Approx(3 * 8 * 2 * 2 * d * d * h));
  CHECK(hardware_flops_of_step(plan).value == Approx(flops("gemm-full-attention", plan)).epsilon(1e-12));
}

TEST_CASE("tokens that experts drop are no model FLOPs, and room that stays empty is none either") {
  Scenario scenario = gpt(1024, 4, 16);
  scenario.run.batch = {8, 1};
  scenario.model.moe.experts = 8;
  scenario.model.moe.top_k = 2;
  scenario.model.moe.ffn_hidden = 512;
  const auto with = [&](double factor) {
    scenario.model.moe.capacity_factor = factor;
    return make_plan(scenario);
  };
  const double dropless = flops("gemm-full-attention", with(0));
  const double products = 3 * 8 * 2048.0 * 4 * 2 * (2 * 512 * 2 * 1024);  // of a token's two experts in four blocks
  CHECK(dropless - flops("gemm-full-attention", with(0.5)) == Approx(products / 2));
  CHECK(flops("gemm-full-attention", with(2)) == dropless);
  for (const double factor : {0.5, 1.0, 2.0}) {
    const Plan plan = with(factor);
    CHECK(hardware_flops_of_step(plan).value >= flops("gemm-full-attention", plan) * (1 - 1e-9));
  }
}

TEST_CASE("attention without a causal mask is whole in either convention") {
  Scenario scenario = gpt(1024, 4, 16);
  scenario.model.attention.causal = false;
  scenario.run.batch = {8, 1};
  const Plan plan = make_plan(scenario);
  CHECK(flops("causal-attention", plan) == flops("gemm-full-attention", plan));
}

TEST_CASE("every convention has a name of its own, a formula and a source") {
  for (const FlopConvention& convention : flop_conventions()) {
    CHECK(find_flop_convention(convention.name) == &convention);
    CHECK(std::string(convention.formula).size() > 5);
    CHECK(std::string(convention.source).size() > 5);
  }
  CHECK(find_flop_convention("6m") == nullptr);
}

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "body_plans.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double tokens = 2 * 512;
constexpr double h = 1024, ffn = 4096, vocabulary = 8192;
// Two FLOPs per weight and token: qkv 3 h^2, projection h^2, MLP 2 h ffn; scores and context 2 s h each per token.
constexpr double block_forward = tokens * (2 * (4 * h * h + 2 * h * ffn) + 4 * 512 * h);
constexpr double head_forward = tokens * 2 * h * vocabulary;

}  // namespace

TEST_CASE("a forward pass costs two FLOPs per weight and token, and the square of the attention") {
  const Bodies bodies = make_bodies(make_plan(dense_scenario()));
  CHECK(flops(bodies, 0, OpKind::forward) == 8 * block_forward + head_forward);
}

TEST_CASE("a backward pass costs twice the forward pass, and consists of its two halves") {
  const Bodies bodies = make_bodies(make_plan(dense_scenario()));
  CHECK(flops(bodies, 0, OpKind::backward) == 2 * flops(bodies, 0, OpKind::forward));
  CHECK(flops(bodies, 0, OpKind::input_grad) + flops(bodies, 0, OpKind::weight_grad) ==
        flops(bodies, 0, OpKind::backward));
  // Attention has no weights, so its four products all belong to the input gradient.
  CHECK(flops(bodies, 0, OpKind::weight_grad) == 8 * (block_forward - tokens * 4 * 512 * h) + head_forward);
}

TEST_CASE("the two halves of a backward body hold the segments of the whole, each in order") {
  Scenario scenario = dense_scenario();
  scenario.model.dropout = 0.1;
  scenario.run.parallel.tensor = 4;
  scenario.run.parallel.sequence_parallel = true;
  const Bodies bodies = make_bodies(make_plan(scenario));
  const BodyPart& whole = block_part(body_of(bodies, 0, OpKind::backward), 8);
  const BodyPart& input = block_part(body_of(bodies, 0, OpKind::input_grad), 8);
  const BodyPart& weight = block_part(body_of(bodies, 0, OpKind::weight_grad), 8);
  REQUIRE(whole.segments.size() == input.segments.size() + weight.segments.size());
  std::size_t i = 0, w = 0;
  for (const Segment& segment : whole.segments) {
    if (i < input.segments.size() && std::string(input.segments[i].name) == segment.name) {
      ++i;
    } else {
      REQUIRE(w < weight.segments.size());
      CHECK(std::string(weight.segments[w++].name) == segment.name);
    }
  }
  CHECK(i == input.segments.size());
}

TEST_CASE("tensor parallelism divides the FLOPs of every rank") {
  Scenario scenario = dense_scenario();
  scenario.run.parallel.tensor = 8;
  const Bodies bodies = make_bodies(make_plan(scenario));
  CHECK(flops(bodies, 0, OpKind::forward) == (8 * block_forward + head_forward) / 8);
  const BodyPart& block = block_part(body_of(bodies, 0, OpKind::forward), 8);
  CHECK(kernel_of(block, "qkv").n == 3 * 1024 / 8);               // column-parallel: n
  CHECK(kernel_of(block, "attention-projection").k == 1024 / 8);  // row-parallel: k
  CHECK(kernel_of(block, "attention-scores").batch == 2 * 16 / 8);
}

TEST_CASE("full recompute repeats the blocks, not the embedding and the head") {
  Scenario scenario = dense_scenario();
  scenario.run.recompute = Recompute::full;
  const Bodies bodies = make_bodies(make_plan(scenario));
  CHECK(flops(bodies, 0, OpKind::recompute) == 8 * block_forward);
  CHECK(flops(bodies, 0, OpKind::backward) == 2 * (8 * block_forward + head_forward));
}

TEST_CASE("selective recompute adds the core attention to the backward body and nothing else") {
  Scenario scenario = dense_scenario();
  const Bodies plain = make_bodies(make_plan(scenario));
  scenario.run.recompute = Recompute::selective;
  const Bodies selective = make_bodies(make_plan(scenario));
  CHECK(flops(selective, 0, OpKind::backward) - flops(plain, 0, OpKind::backward) == 8 * tokens * 4 * 512 * h);
  CHECK(!selective.of_stage[0][static_cast<std::size_t>(OpKind::recompute)].valid());
}

namespace {

/// What a backward body of the plan has beyond that of the same plan without recompute, by name.
std::map<std::string, int> run_again(Scenario scenario, RecomputeModules modules) {
  std::map<std::string, int> count;
  const auto add = [&](int sign) {
    const Bodies bodies = make_bodies(make_plan(scenario));
    for (const Segment& segment : block_part(body_of(bodies, 0, OpKind::backward), 8).segments)
      count[segment.name] += sign;
  };
  add(-1);
  scenario.run.recompute = Recompute::selective;
  scenario.run.recompute_modules = modules;
  add(+1);
  std::erase_if(count, [](const auto& entry) { return entry.second == 0; });
  return count;
}

}  // namespace

TEST_CASE("what selective recompute drops is computed again in the backward pass, module by module") {
  using Names = std::map<std::string, int>;
  Scenario scenario = dense_scenario();
  CHECK(run_again(scenario, {.core_attention = false, .norms = true}) == Names{{"attention-norm", 1}, {"mlp-norm", 1}});
  CHECK(run_again(scenario, {.core_attention = false, .activation = true}) == Names{{"mlp-activation", 1}});
  const Names whole{{"mlp-up", 1}, {"mlp-activation", 1}, {"mlp-down", 1}};
  CHECK(run_again(scenario, {.core_attention = false, .mlp = true}) == whole);
  CHECK(run_again(scenario, {.core_attention = false, .activation = true, .mlp = true}) == whole);
  scenario.run.precision = Precision::fp8_mixed;  // the output of the activation is cast once more as well
  CHECK(run_again(scenario, {.core_attention = false, .activation = true}) ==
        Names{{"mlp-activation", 1}, {"mlp-down-cast", 1}});
  scenario.run.parallel.tensor = 4;
  scenario.run.parallel.sequence_parallel = true;  // a checkpoint around the MLP talks to the group again
  CHECK(run_again(scenario, {.core_attention = false, .mlp = true}) == Names{{"mlp-all-gather", 1},
                                                                             {"mlp-up", 1},
                                                                             {"mlp-activation", 1},
                                                                             {"mlp-down-cast", 1},
                                                                             {"mlp-down", 1},
                                                                             {"mlp-reduce", 1}});
}

TEST_CASE("experts run their activation again, or their first product too") {
  using Names = std::map<std::string, int>;
  Scenario scenario = dense_scenario();
  scenario.model.moe.experts = 8;
  scenario.model.moe.top_k = 2;
  scenario.model.moe.ffn_hidden = 512;
  CHECK(run_again(scenario, {.core_attention = false, .activation = true}) == Names{{"experts-activation", 1}});
  CHECK(run_again(scenario, {.core_attention = false, .mlp = true}) ==
        Names{{"experts-up", 1}, {"experts-activation", 1}});
}

TEST_CASE("grouped-query attention narrows the qkv product, a gated MLP widens the up product") {
  Scenario scenario = dense_scenario();
  scenario.model.attention.kv_heads = 4;
  scenario.model.mlp.gated = true;
  const Bodies bodies = make_bodies(make_plan(scenario));
  const BodyPart& block = block_part(body_of(bodies, 0, OpKind::forward), 8);
  CHECK(kernel_of(block, "qkv").n == (16 + 2 * 4) * 64);
  CHECK(kernel_of(block, "mlp-up").n == 2 * 4096);
  CHECK(kernel_of(block, "mlp-down").k == 4096);
}

TEST_CASE("flash attention counts half the square under a causal mask, and five products backward") {
  Scenario scenario = dense_scenario();
  scenario.run.attention_kernel = AttentionKernel::flash_2;
  scenario.cluster.gpu.architecture = "ampere";
  const Bodies bodies = make_bodies(make_plan(scenario));
  const double product = 2 * tokens * 512 * h;  // of one s x s matrix with d
  const BodyPart& forward = block_part(body_of(bodies, 0, OpKind::forward), 8);
  const BodyPart& backward = block_part(body_of(bodies, 0, OpKind::backward), 8);
  CHECK(kernel_of(forward, "flash-attention").flops.value == 2 * product / 2);
  CHECK(kernel_of(backward, "flash-attention-backward").flops.value == 5 * product / 2);
}

TEST_CASE("plain layers cost what they say, three times over with both gradients") {
  Scenario scenario = dense_scenario();
  scenario.model = {};
  scenario.model.name = "plain";
  for (int i = 0; i < 4; ++i) scenario.model.plain_layers.push_back({"layer", Flops{1e9}, 1e6, Bytes{4e3}, Bytes{8e3}});
  scenario.run.parallel.pipeline = 2;
  const Bodies bodies = make_bodies(make_plan(scenario));
  CHECK(flops(bodies, 0, OpKind::forward) == 2 * 2 * 1e9);  // two layers, two samples
  CHECK(flops(bodies, 1, OpKind::backward) == 2 * 2 * 2 * 1e9);
}

TEST_CASE("of blocks of two kinds full recompute takes its share of each") {
  // Experts in every second of eight blocks: half of the blocks cost half of a recompute of all.
  Scenario scenario = expert_scenario();
  scenario.model.moe.every = 2;
  scenario.run.recompute = Recompute::full;
  const double all = flops(make_bodies(make_plan(scenario)), 0, OpKind::recompute);
  for (const RecomputeScope scope : {RecomputeScope::first_blocks, RecomputeScope::every_kth}) {
    scenario.run.recompute_scope = scope;
    scenario.run.recompute_blocks = scope == RecomputeScope::first_blocks ? 4 : 2;
    CHECK(flops(make_bodies(make_plan(scenario)), 0, OpKind::recompute) == Approx(all / 2));
  }
}

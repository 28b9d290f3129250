// Biases of experts and the clamp before their activation, derived by hand: 1024 tokens of hidden size 1024 on each of
// 4 ranks, 8 experts of inner width 512 spread over them, 2 experts per token, gated, fp16 (2 bytes). 2048 rows come to
// each rank, whose two experts are 2048 x 1024 numbers wide at their end and 2048 x (2 x 512) before their activation.
#include <catch2/catch.hpp>
#include <map>

#include "body_plans.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double at_end = 2048.0 * 1024, before_activation = 2048.0 * 2 * 512;

Scenario with_biased_experts(Framework framework) {
  Scenario scenario = expert_scenario();
  scenario.model.mlp.gated = true;
  scenario.model.mlp.bias = true;
  scenario.model.mlp.clamp = 7;
  scenario.run.framework = framework;
  return scenario;
}

struct Cost {
  double bytes = 0;
  int launches = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// What the bias and clamp kernels of a block's experts cost, by name.
std::map<std::string, Cost> costs(const Scenario& scenario, OpKind kind) {
  std::map<std::string, Cost> found;
  for (const Segment& segment : block_of(scenario, kind).segments) {
    const std::string name = segment.name;
    if (name.rfind("experts-", 0) != 0) continue;
    if (name.find("bias") == std::string::npos && name.find("clamp") == std::string::npos) continue;
    found[name] = {segment.kernel.bytes.value, segment.kernel.launches};
  }
  return found;
}

}  // namespace

TEST_CASE("under TransformerEngine the second bias is weighted and added expert by expert, in fp32") {
  const Scenario scenario = with_biased_experts(Framework::transformer_engine);
  // Forward: bias times weight written (4), added to the product (2 + 4 read, 4 written), joined (4 + 4), cast (4 + 2):
  // 28 bytes. Of each of two experts two kernels; joined and cast at once. Clamp: each half read and written (4), both
  // joined (4).
  CHECK(costs(scenario, OpKind::forward) == std::map<std::string, Cost>{{"experts-down-bias", {28 * at_end, 6}},
                                                                        {"experts-clamp", {8 * before_activation, 3}}});
  // Backward: cast to fp32 (2 + 4), back (4 + 2) and joined (2 + 2): 16; gradients of bias and weights: a product (4 +
  // 4) and a sum (4) each: 24. Clamp: gradient and input read, gradient written (6), both joined (4). The first bias is
  // summed by the product of the weight gradient.
  CHECK(costs(scenario, OpKind::backward) ==
        std::map<std::string, Cost>{{"experts-down-bias-grad", {40 * at_end, 12}},
                                    {"experts-clamp-grad", {10 * before_activation, 3}}});
}

TEST_CASE("elsewhere a bias of experts is a pass over rows, and a compiler makes the clamp part of the activation") {
  const std::map<std::string, Cost> forward{{"experts-down-bias", {2 * 2 * at_end, 1}}};
  const std::map<std::string, Cost> backward{{"experts-down-bias-grad", {2 * at_end, 1}},
                                             {"experts-up-bias-grad", {2 * before_activation, 1}}};
  CHECK(costs(with_biased_experts(Framework::fsdp), OpKind::forward) == forward);
  CHECK(costs(with_biased_experts(Framework::fsdp), OpKind::backward) == backward);
  Scenario eager = with_biased_experts(Framework::fsdp);
  eager.run.fused_kernels = false;
  CHECK(costs(eager, OpKind::forward).count("experts-clamp") == 1);
}

TEST_CASE("without biases and clamp experts have no kernels for them") {
  Scenario scenario = with_biased_experts(Framework::transformer_engine);
  scenario.model.mlp.bias = false;
  scenario.model.mlp.clamp = 0;
  CHECK(costs(scenario, OpKind::forward).empty());
  CHECK(costs(scenario, OpKind::backward).empty());
}

TEST_CASE("a clamp runs again with the activation, and stands before a dense MLP's too") {
  Scenario scenario = with_biased_experts(Framework::transformer_engine);
  scenario.run.recompute = Recompute::selective;
  scenario.run.recompute_modules = {.core_attention = false, .activation = true};
  CHECK(costs(scenario, OpKind::backward).at("experts-clamp") == Cost{8 * before_activation, 3});
  scenario.model.moe = {};
  scenario.run.parallel.expert = 1;
  scenario.model.mlp.gated = false;
  const Bodies bodies = make_bodies(make_plan(scenario));
  const Kernel& clamp = kernel_of(block_part(body_of(bodies, 0, OpKind::forward), 8), "mlp-clamp");
  CHECK(clamp.bytes.value == 4 * 1024.0 * 4096);  // of one half: read and written
  CHECK(clamp.launches == 1);
}

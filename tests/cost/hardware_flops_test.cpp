// What the hardware executes against what the model needs: where nothing is dropped it is never less.
#include <catch2/catch.hpp>

#include "cost/flops.hpp"

using namespace stagecraft;

namespace {

constexpr double sequences = 4, length = 4096, blocks = 2, h = 512;

Scenario over_context_ranks(std::int64_t context, ContextMethod method, AttentionKernel kernel) {
  Scenario scenario;
  ModelSpec& model = scenario.model;
  model.name = "gpt";
  model.hidden = static_cast<std::int64_t>(h);
  model.blocks = static_cast<std::int64_t>(blocks);
  model.vocabulary = 1024;
  model.sequence_length = static_cast<std::int64_t>(length);
  model.attention = {8, 8, 64, true, true};
  model.mlp = {2048, false, Activation::gelu, true};
  RunSpec& run = scenario.run;
  run.sequence_length = model.sequence_length;
  run.precision = Precision::fp16_mixed;
  run.attention_kernel = kernel;
  run.batch = {static_cast<std::int64_t>(sequences), 1};
  run.parallel.context = context;
  run.parallel.context_method = method;
  run.parallel.ulysses = method == ContextMethod::combined ? 2 : run.parallel.ulysses;
  return scenario;
}

double hardware_over_model(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  return hardware_flops_of_step(plan).value / find_flop_convention("gemm-full-attention")->of_step(plan).value;
}

}  // namespace

TEST_CASE("an unfused ring counts the halves that its steps skip, as one rank's whole square does") {
  for (const std::int64_t context : {1, 2, 4, 8}) {
    CHECK(hardware_over_model(over_context_ranks(context, ContextMethod::ring, AttentionKernel::fused_softmax)) ==
          Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("an unfused ring counts what all ranks work on, not the busiest one's keys on each of them") {
  Scenario scenario = over_context_ranks(4, ContextMethod::ring, AttentionKernel::unfused);
  scenario.run.parallel.zig_zag = false;
  CHECK(hardware_over_model(scenario) == Approx(1).epsilon(1e-12));
}

TEST_CASE("where a window hides all other ranks' keys a ring still works on its own square, hidden part and all") {
  Scenario scenario = over_context_ranks(4, ContextMethod::ring, AttentionKernel::fused_softmax);
  scenario.model.attention.window = 256;
  const Plan plan = make_plan(scenario);
  // 4096 queries see 256 keys each, less at the start, which the convention counts twice; four ranks work on 1024^2.
  const double pairs = length * 256 - 256.0 * 256 / 2, worked_on = 4 * 1024.0 * 1024;
  const double per_pair = 3 * sequences * blocks * 4 * h;  // forward and backward
  const double model = find_flop_convention("gemm-full-attention")->of_step(plan).value;
  CHECK(hardware_flops_of_step(plan).value == Approx(model + per_pair * (worked_on - 2 * pairs)).epsilon(1e-12));
}

TEST_CASE("hardware FLOPs are no fewer than model FLOPs, however attention is divided, masked and computed") {
  const auto holds = [](const Scenario& scenario) {
    INFO(to_text(scenario.run.parallel.context_method)
         << " over " << scenario.run.parallel.context << ", " << to_text(scenario.run.attention_kernel) << ", window "
         << scenario.model.attention.window << ", causal " << scenario.model.attention.causal);
    CHECK(hardware_over_model(scenario) >= 1 - 1e-9);
  };
  for (const AttentionKernel kernel :
       {AttentionKernel::unfused, AttentionKernel::fused_softmax, AttentionKernel::flash_2}) {
    for (const ContextMethod method :
         {ContextMethod::ring, ContextMethod::ulysses, ContextMethod::all_gather, ContextMethod::combined}) {
      for (const std::int64_t context : {1, 2, 4, 8}) {
        if (context < 4 && method == ContextMethod::combined) continue;
        for (const std::int64_t window : {0, 300, 3000}) {
          for (const bool causal : {true, false}) {
            for (const bool zig_zag : {true, false}) {
              Scenario scenario = over_context_ranks(context, method, kernel);
              scenario.model.attention.window = window;
              scenario.model.attention.causal = causal;
              scenario.run.parallel.zig_zag = zig_zag;
              holds(scenario);
              scenario.run.batch.lengths = {{4096, 0.7}, {100, 0.3}};
              scenario.run.parallel.data = 4;
              holds(scenario);
              scenario.run.recompute = Recompute::selective;
              scenario.model.moe = {8, 2};
              scenario.model.moe.ffn_hidden = 256;
              holds(scenario);
            }
          }
        }
      }
    }
  }
}

// Bytes per parameter: recipes, ZeRO stages, and the figures that Megatron-LM and DeepSpeed print.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "memory/deepspeed.hpp"
#include "memory/recipe.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

ModelStates adam_states(StateRecipe recipe, double parameters, std::int64_t zero_stage, double ranks) {
  return model_states(bytes_of(recipe), states_of(Optimizer::adam), parameters, zero_stage, ranks);
}

double bytes_per_parameter(StateRecipe recipe, std::int64_t zero_stage, double ranks) {
  const ModelStates states = adam_states(recipe, 1e6, zero_stage, ranks);
  return (states.parameters + states.gradients + states.optimizer).value / 1e6;
}

}  // namespace

TEST_CASE("Megatron-LM's table of bytes per parameter comes out") {
  // docs/source/api-guide/dist_optimizer.md: without, and with the distributed optimizer over d ranks.
  for (const double d : {1.0, 2.0, 8.0, 64.0}) {
    CHECK(bytes_per_parameter(StateRecipe::mixed_16bit_and_fp32_gradients, 0, d) == 20);
    CHECK(bytes_per_parameter(StateRecipe::mixed_16bit_and_fp32_gradients, 1, d) == 4 + 16 / d);
    CHECK(bytes_per_parameter(StateRecipe::mixed_fp32_gradients, 0, d) == 18);
    CHECK(bytes_per_parameter(StateRecipe::mixed_fp32_gradients, 1, d) == 6 + 12 / d);
    CHECK(bytes_per_parameter(StateRecipe::fp32, 0, d) == 16);
    CHECK(bytes_per_parameter(StateRecipe::fp32, 1, d) == 8 + 8 / d);
  }
}

TEST_CASE("the ZeRO paper's 7.5B model on 64 GPUs takes 120, 31.4, 16.6 and 1.9 GB") {
  // arXiv 1910.02054, figure 1: 16 bytes per parameter, K = 12.
  const StateRecipe recipe = StateRecipe::mixed_16bit_gradients;
  const double published[] = {120, 31.4, 16.6, 1.9};
  for (std::int64_t stage = 0; stage <= 3; ++stage) {
    const ModelStates states = adam_states(recipe, 7.5e9, stage, 64);
    const double gigabytes = (states.parameters + states.gradients + states.optimizer).value / 1e9;
    CHECK(std::abs(gigabytes - published[stage]) < 0.051);
  }
}

TEST_CASE("DeepSpeed's estimators print the same figures") {
  std::ifstream file(std::string(STAGECRAFT_SOURCE_DIR) + "/tests/golden/memory_deepspeed_estimators.json");
  const auto golden = nlohmann::json::parse(file);
  REQUIRE(golden.at("records").size() == 5);
  for (const auto& record : golden.at("records")) {
    const std::string offload = record.at("offload");
    const DeepSpeedOffload where = offload == "none"        ? DeepSpeedOffload::none
                                   : offload == "optimizer" ? DeepSpeedOffload::optimizer
                                                            : DeepSpeedOffload::optimizer_and_parameters;
    const Bytes bytes = deepspeed_model_states(record.at("zero_stage"), where, record.at("parameters"),
                                               record.at("largest_layer"), record.at("gpus"));
    INFO(record.at("id"));
    CHECK(std::round(bytes.value / GiB * 100) / 100 == record.at("printed_gib").get<double>());
  }
}

TEST_CASE("each ZeRO stage shards one class more") {
  const StateRecipe recipe = StateRecipe::mixed_fp32_gradients;
  const ModelStates whole = adam_states(recipe, 1000, 0, 8), third = adam_states(recipe, 1000, 3, 8);
  CHECK(adam_states(recipe, 1000, 1, 8).optimizer.value == whole.optimizer.value / 8);
  CHECK(adam_states(recipe, 1000, 1, 8).gradients.value == whole.gradients.value);
  CHECK(adam_states(recipe, 1000, 2, 8).gradients.value == whole.gradients.value / 8);
  CHECK(adam_states(recipe, 1000, 2, 8).parameters.value == whole.parameters.value);
  CHECK(third.parameters.value == whole.parameters.value / 8);
}

TEST_CASE("every recipe and optimizer stands in its own row, with a source") {
  for (std::size_t i = 0; i < state_recipes().size(); ++i) {
    CHECK(static_cast<std::size_t>(state_recipes()[i].recipe) == i);
    CHECK(std::string(state_recipes()[i].source) != "");
  }
  for (std::size_t i = 0; i < optimizer_states().size(); ++i) {
    CHECK(static_cast<std::size_t>(optimizer_states()[i].optimizer) == i);
    CHECK(std::string(optimizer_states()[i].source) != "");
  }
  CHECK(recipe_of(RunSpec{}) == StateRecipe::mixed_fp32_gradients);
}

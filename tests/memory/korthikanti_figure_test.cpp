// The bars of figure 1 of arXiv 2205.05198: transformer blocks of the first pipeline stage, from the block table and
// the schedule's live micro-batches.
#include <fstream>
#include <nlohmann/json.hpp>

#include "memory/activations.hpp"
#include "memory/parameters.hpp"
#include "memory/recipe.hpp"
#include "plans.hpp"
#include "schedule/check.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

/// The paper counts 12 h^2 parameters a block: matrices only, no biases, norms or embeddings.
double matrix_parameters_of_a_block(const Plan& plan) {
  double sum = 0;
  for (const ParameterTensor& tensor : parameter_tensors(plan, {LayerKind::block, 0})) {
    if (tensor.matrix) sum += tensor.elements;
  }
  return sum / plan.degrees.tensor;
}

/// ... and no statistics of the norms.
double activations_of_a_block(const Plan& plan) {
  const LocalShape shape = local_shape(plan);
  const double statistics = 2 * 2 * 4 * shape.tokens / (shape.sequence_parallel ? shape.tensor : 1);
  return activations_of(shape, block_tensors(shape), plan.run.recompute).kept.value - statistics;
}

}  // namespace

TEST_CASE("all bars of Korthikanti's figure 1 come out to the digit") {
  std::ifstream file(std::string(STAGECRAFT_SOURCE_DIR) + "/tests/golden/memory_korthikanti22.json");
  const auto golden = nlohmann::json::parse(file);
  REQUIRE(golden.at("records").size() == 8);
  for (const auto& record : golden.at("records")) {
    Layout layout;
    layout.tensor = record.at("tensor");
    layout.pipeline = record.at("pipeline");
    layout.virtual_stages = record.at("virtual_stages");
    layout.sequence_parallel = record.at("sequence_parallel");
    layout.micro_batch = record.at("micro_batch");
    layout.micro_batches = record.at("global_batch").get<std::int64_t>() / layout.micro_batch;
    layout.recompute = record.at("recompute") == "selective" ? Recompute::selective : Recompute::none;
    const Plan plan = plan_of(gpt(record.at("hidden"), record.at("heads"), record.at("blocks"),
                                  record.at("sequence_length"), record.at("vocabulary")),
                              layout);
    const double blocks_per_rank = static_cast<double>(plan.model.blocks) / plan.degrees.pipeline;
    const Schedule schedule = schedule_of(plan, layout.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b");
    const double live_stages = peak_activations(schedule).front();
    INFO(record.at("id"));
    CHECK(live_stages * blocks_per_rank * activations_of_a_block(plan) / GiB ==
          Approx(record.at("activations_gib").get<double>()).epsilon(1e-12));
    const ModelStates states = model_states(bytes_of(StateRecipe::mixed_fp32_gradients), states_of(Optimizer::adam),
                                            blocks_per_rank * matrix_parameters_of_a_block(plan), 0, 1);
    CHECK((states.parameters + states.gradients + states.optimizer).value / GiB ==
          Approx(record.at("model_states_gib").get<double>()).epsilon(1e-12));
  }
}

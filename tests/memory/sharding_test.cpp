// Whatever is divided adds up again: over tensor ranks, stages and data ranks.
#include <cmath>
#include <string>

#include "memory/activations.hpp"
#include "memory/overhead.hpp"
#include "memory/padding.hpp"
#include "memory/parameters.hpp"
#include "memory/recipe.hpp"
#include "plans.hpp"
#include "spec/recipe.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

/// Parameters of all ranks of one data-parallel replica together, replicas of whole tensors counted once.
double distinct_parameters(const Plan& plan) {
  double sum = 0;
  for (const Layer& layer : plan.layers) {
    for (const ParameterTensor& tensor : parameter_tensors(plan, layer)) {
      const double on_rank = parameters_on_rank({tensor}, plan.degrees.tensor);
      sum += tensor.divided ? on_rank * plan.degrees.tensor : on_rank;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("parameters of all ranks add up to the model's") {
  // Vocabularies are multiples of 128 * 8, so that padding adds nothing.
  for (const ModelSpec& model : {gpt(1024, 16, 8, 256, 51200), llama(1024, 16, 8, 2816, 8, 256, 32768)}) {
    for (const std::int64_t tensor : {1, 2, 8}) {
      Layout layout;
      layout.tensor = tensor;
      CHECK(distinct_parameters(plan_of(model, layout)) == parameters_of(model));
    }
  }
}

TEST_CASE("stages add up to the whole model and the copy of its tied embedding") {
  const ModelSpec model = gpt(1024, 16, 8, 256, 51200);
  Layout layout;
  layout.pipeline = 4;
  layout.virtual_stages = 2;
  layout.micro_batches = 4;
  double sum = 0;
  for (const StageMemory& stage : stage_memories(plan_of(model, layout))) sum += stage.parameters;
  CHECK(sum == parameters_of(model) + 51200.0 * 1024);
}

TEST_CASE("one rank that holds both ends needs no copy of the tied embedding") {
  Layout layout;
  const Plan plan = plan_of(gpt(1024, 16, 8, 256, 51200), layout);
  CHECK(stage_memory(plan, Stage(0)).parameters == parameters_of(plan.model));
  // The V-shaped placement puts first and last stage on rank 0.
  layout.pipeline = 2;
  layout.virtual_stages = 2;
  layout.micro_batches = 4;
  const Plan v = plan_of(gpt(1024, 16, 8, 256, 51200), layout);
  const Schedule schedule = schedule_of(v, "zbv");
  REQUIRE(schedule.placement[0][0] == schedule.placement[0][3]);
  const double both =
      (stage_memory(v, Stage(0)).parameters + stage_memory(v, Stage(3)).parameters - 51200.0 * 1024) * 2;
  CHECK(at(make_memory_model(v, schedule).resident[0], MemoryClass::parameters).value == both);
}

TEST_CASE("optimizer states sharded over d data ranks add up to the unsharded ones") {
  for (const std::int64_t d : {2, 4, 64}) {
    Layout layout;
    layout.data = d;
    const Plan whole = plan_of(gpt(1024, 16, 2, 256, 1024), layout);
    layout.zero_stage = 1;
    const Plan sharded = plan_of(gpt(1024, 16, 2, 256, 1024), layout);
    const MemoryByClass before = stage_memory(whole, Stage(0)).resident,
                        after = stage_memory(sharded, Stage(0)).resident;
    CHECK(at(after, MemoryClass::optimizer_states).value * static_cast<double>(d) ==
          at(before, MemoryClass::optimizer_states).value);
    CHECK(at(after, MemoryClass::parameters).value == at(before, MemoryClass::parameters).value);
    CHECK(at(after, MemoryClass::gradients).value == at(before, MemoryClass::gradients).value);
  }
}

TEST_CASE("activations of all tensor ranks add up to the unsharded ones under sequence parallelism") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    Layout layout;
    layout.recompute = recompute;
    const LocalShape whole = local_shape(plan_of(gpt(1024, 16, 2, 256, 1024), layout));
    layout.tensor = 4;
    layout.sequence_parallel = true;
    const LocalShape sharded = local_shape(plan_of(gpt(1024, 16, 2, 256, 1024), layout));
    CHECK(activations_of(sharded, block_tensors(sharded), recompute).kept.value * 4 ==
          activations_of(whole, block_tensors(whole), recompute).kept.value);
  }
}

TEST_CASE("every fixed line has a name and a source, and they add up") {
  Layout layout;
  layout.tensor = 2;
  layout.pipeline = 2;
  layout.data = 2;
  layout.micro_batches = 2;
  layout.sequence_parallel = true;
  const Plan plan = plan_of(gpt(1024, 16, 2, 256, 1024), layout);
  Bytes sum;
  for (const FixedLine& line : fixed_lines(plan)) {
    CHECK(std::string(line.name) != "");
    CHECK(std::string(line.source) != "");
    CHECK(line.bytes.value > 0);
    sum += line.bytes;
  }
  CHECK(total(fixed_memory(plan)).value == sum.value);
}

TEST_CASE("FSDP gives the fullest rank whole rows, and the rest is padding") {
  // d = 3 ranks, h = 1024, f = 4096, vocabulary 1024 x 3 rows of the embedding. Rows of a block that 3 does not divide:
  // 1024 = 3 * 341 + 1, so a rank with 342 holds 2/3 of a row too much; 3072 (qkv) divides; 4096 = 3 * 1365 + 1: 2/3.
  Layout layout;
  layout.data = 3;
  layout.zero_stage = 3;
  Plan plan = plan_of(gpt(1024, 16, 1, 256, 3072), layout);
  plan.run.framework = Framework::fsdp;
  double rows = 0;  // of width 1 on the fullest rank, in thirds
  for (const Layer& layer : plan.layers) {
    if (layer.kind == LayerKind::loss) continue;
    for (const ParameterTensor& tensor : parameter_tensors(plan, layer)) {
      const double count = tensor.rows > 0 ? tensor.rows : tensor.elements;
      const double more = std::fmod(count, 3) == 0 ? 0 : (3 - std::fmod(count, 3)) / 3;
      rows += more * tensor.elements / count;
    }
  }
  CHECK(rows > 0);
  const RecipeBytes& recipe = bytes_of(recipe_of(plan.run));
  const double per_parameter = recipe.weight + recipe.gradient + recipe.master + 2 * recipe.moment;
  CHECK(padding_of_shards(plan).value == Approx(rows * per_parameter));
  plan.run.zero_stage = 0;
  CHECK(padding_of_shards(plan).value == 0);
}

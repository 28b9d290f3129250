// What frameworks do differently: weight gradients beside the main ones, recipes by name, fixed lines.
#include <string_view>

#include "memory/overhead.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

Plan one_stage_plan() {
  Layout layout;
  layout.tensor = 2;
  layout.micro_batches = 1;
  layout.kernel = AttentionKernel::flash_2;
  return plan_of(gpt(1024, 16, 4, 256, 1024), layout);
}

Bytes line_bytes(const Plan& plan, std::string_view name) {
  Bytes sum;
  for (const FixedLine& line : fixed_lines(plan)) {
    if (line.name == name) sum += line.bytes;
  }
  return sum;
}

}  // namespace

TEST_CASE("a temporary weight gradient is as large as the largest matrix of a block") {
  // Stage 1 of 3 has blocks only.
  Layout layout;
  layout.pipeline = 3;
  layout.micro_batches = 3;
  layout.kernel = AttentionKernel::flash_2;
  Plan blocks = plan_of(gpt(1024, 16, 6, 256, 1024), layout);
  const Bytes without = stage_memory(blocks, Stage(1)).backward_working_set;
  blocks.run.gradient_accumulation_fusion = false;
  const Bytes with = stage_memory(blocks, Stage(1)).backward_working_set;
  CHECK((with - without).value == 2.0 * 1024 * 4096);
}

TEST_CASE("cached weight gradients are kept once, one for each of the four matrices, divided over the tensor group") {
  Plan plan = one_stage_plan();
  CHECK(line_bytes(plan, "unused weight gradients kept for autograd").value == 0);
  plan.run.framework = Framework::transformer_engine;
  const double matrices = 3.0 * 1024 * 1024 + 1024.0 * 1024 + 2 * 1024.0 * 4096;
  CHECK(line_bytes(plan, "unused weight gradients kept for autograd").value == 2 * matrices / 2);
}

TEST_CASE(
    "nanotron keeps activated gates, 16-bit buckets beside fp32 gradients, and fp32 logits beside their softmax") {
  Layout layout;
  layout.tensor = 2;
  layout.micro_batches = 1;
  layout.kernel = AttentionKernel::flash_2;
  Plan plan = plan_of(llama(1024, 16, 16, 2816, 4, 256, 1024), layout);
  plan.run.gradient_accumulation_fusion = false;
  const StageMemory megatron = stage_memory(plan, Stage(0));
  plan.run.framework = Framework::nanotron;
  const StageMemory nanotron = stage_memory(plan, Stage(0));
  const double tokens = 256, gates = 4 * tokens * 2816 / 2 * 2;  // of four blocks, half to each rank, two bytes
  CHECK((nanotron.activation_per_micro_batch - megatron.activation_per_micro_batch).value == gates);
  const auto gradients = [](const StageMemory& stage) { return at(stage.resident, MemoryClass::gradients).value; };
  CHECK(gradients(megatron) == 4 * megatron.parameters);
  CHECK(gradients(nanotron) == 6 * nanotron.parameters);
  // Buckets stay in 16 bits where gradients do not add up in fp32.
  plan.run.recipe = StateRecipe::mixed_16bit_gradients;
  const StageMemory sixteen = stage_memory(plan, Stage(0));
  CHECK(gradients(sixteen) == 4 * sixteen.parameters);
  // Four bytes of each logit in the place of two while the loss runs.
  CHECK((nanotron.logits_forward_working_set - megatron.logits_forward_working_set).value == 2 * tokens * 1024 / 2);
}

TEST_CASE("a recipe given by name takes the place of the precision's") {
  Plan plan = one_stage_plan();
  plan.run.recipe.reset();
  plan.run.fp32_gradients = false;
  const StageMemory twenty = stage_memory(plan, Stage(0));  // fp16_mixed
  plan.run.recipe = StateRecipe::mixed_16bit_gradients;
  const StageMemory sixteen = stage_memory(plan, Stage(0));
  CHECK(total(twenty.resident).value == 20 * twenty.parameters);
  CHECK(total(sixteen.resident).value == 16 * sixteen.parameters);
}

TEST_CASE("a host without GPUs pays no CUDA context and no NCCL buffers") {
  Plan plan = one_stage_plan();
  CHECK(line_bytes(plan, "CUDA context").value > 0);
  CHECK(line_bytes(plan, "NCCL channel buffers").value > 0);
  plan.gpu.architecture = "cpu";
  CHECK(fixed_lines(plan).empty());
}

TEST_CASE("a rank alone opens no communicators") {
  Layout layout;
  CHECK(line_bytes(plan_of(gpt(1024, 16, 4, 256, 1024), layout), "NCCL channel buffers").value == 0);
}

TEST_CASE("without a usable size in the GPU's file the label is the limit") {
  GpuSpec spec = gpu();
  CHECK(memory_limit(spec).value == 79e9);
  spec.memory_usable = {};
  CHECK(memory_limit(spec).value == 80e9);
}

TEST_CASE("schedules without a flush keep several versions of the weights") {
  Layout layout;
  layout.pipeline = 4;
  layout.micro_batches = 8;
  const Plan plan = plan_of(gpt(64, 4, 8, 32, 256), layout);
  const auto weights = [&](const char* name, std::int32_t rank) {
    return at(make_memory_model(plan, schedule_of(plan, name)).resident[static_cast<std::size_t>(rank)],
              MemoryClass::parameters)
        .value;
  };
  for (std::int32_t r = 0; r < 4; ++r) {
    CHECK(weights("pipedream", r) == (4 - r) * weights("1f1b", r));
    CHECK(weights("pipedream-2bw", r) == 2 * weights("1f1b", r));
  }
}

TEST_CASE("plain layers keep what their file says, per sample") {
  ModelSpec model;
  model.name = "two layers";
  model.plain_layers = {{"first", {1e9}, 1e6, {1000}, {5000}}, {"second", {1e9}, 2e6, {10}, {700}}};
  Layout layout;
  layout.pipeline = 2;
  layout.micro_batch = 3;
  layout.micro_batches = 2;
  const Plan plan = plan_of(model, layout);
  const StageMemory first = stage_memory(plan, Stage(0)), second = stage_memory(plan, Stage(1));
  CHECK(first.parameters == 1e6);
  CHECK(first.activation_per_micro_batch.value == 3 * 5000);
  CHECK(first.output.value == 3 * 1000);
  CHECK(second.input.value == 3 * 1000);
  CHECK(second.activation_per_micro_batch.value == 3 * 700);
  CHECK(second.output.value == 0);
}

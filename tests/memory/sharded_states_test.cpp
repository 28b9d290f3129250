// ZeRO 2 and 3, hybrid sharding, optimizers and offload: who holds what.
#include <cmath>

#include "memory/host_memory.hpp"
#include "memory/recipe.hpp"
#include "memory/sharded.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

Plan sharded_plan(std::int64_t zero_stage, ShardUnit unit, std::int64_t data = 8) {
  Layout layout;
  layout.data = data;
  layout.kernel = AttentionKernel::flash_2;
  layout.precision = Precision::bf16_mixed;
  layout.zero_stage = zero_stage;
  Plan plan = plan_of(llama(64, 4, 4, 128, 4, 32, 256), layout);
  plan.run.sharding.unit = unit;
  return plan;
}

constexpr double block = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64;
constexpr double ends = 2 * 256 * 64 + 64;
constexpr double parameters = 4 * block + ends;

}  // namespace

TEST_CASE("sharded over d ranks the states of all ranks add up to the unsharded ones") {
  for (const std::int64_t stage : {1, 2, 3}) {
    const MemoryByClass whole = stage_memory(sharded_plan(0, ShardUnit::block), Stage(0)).resident;
    const MemoryByClass part = stage_memory(sharded_plan(stage, ShardUnit::block), Stage(0)).resident;
    CHECK(at(part, MemoryClass::optimizer_states).value * 8 == at(whole, MemoryClass::optimizer_states).value);
    CHECK(at(part, MemoryClass::gradients).value * (stage >= 2 ? 8 : 1) == at(whole, MemoryClass::gradients).value);
    CHECK(at(part, MemoryClass::parameters).value * (stage == 3 ? 8 : 1) == at(whole, MemoryClass::parameters).value);
  }
}

TEST_CASE("hybrid sharding divides by the group and replicates across groups") {
  Plan plan = sharded_plan(3, ShardUnit::block);
  plan.degrees.shard = 2;
  const MemoryByClass part = stage_memory(plan, Stage(0)).resident;
  CHECK(at(part, MemoryClass::parameters).value == 2 * parameters / 2);
  CHECK(at(part, MemoryClass::optimizer_states).value == 12 * parameters / 2);
}

TEST_CASE("block by block ZeRO-3 gathers the block in use and those prefetched, and keeps the ends gathered") {
  Plan plan = sharded_plan(3, ShardUnit::block);
  ParameterCount one, all, head, embedding;
  one.dense = block;
  all.dense = 4 * block;
  embedding.dense = 256 * 64;
  head.dense = ends - 256 * 64;
  const StageCounts counts{embedding, all, head, one};
  CHECK(sharded_working_set(plan, counts).standing.value == 2 * ends);
  CHECK(sharded_working_set(plan, counts).forward.value == 2 * 2 * block);
  // Its own gradient in 16 bit and the last block's in fp32 on its way.
  CHECK(sharded_working_set(plan, counts).backward.value == 2 * 2 * block + (2 + 4) * block);
  plan.run.sharding.prefetch = 0;
  CHECK(sharded_working_set(plan, counts).forward.value == 2 * block);
  plan.run.sharding.reshard_after_forward = false;
  CHECK(sharded_working_set(plan, counts).standing.value == 2 * (ends + 4 * block));
  CHECK(sharded_working_set(plan, counts).forward.value == 0);
}

TEST_CASE("stage by stage ZeRO-3 gathers what UNSHARD takes and RESHARD gives back") {
  const StageMemory stage = stage_memory(sharded_plan(3, ShardUnit::stage), Stage(0));
  CHECK(stage.unshard.value == 2 * parameters);
  // Gradients of a stage are whole until its one reduction.
  CHECK(at(stage.resident, MemoryClass::gradients).value == 4 * parameters);
  CHECK(at(stage.resident, MemoryClass::parameters).value == 2 * parameters / 8);
}

TEST_CASE("optimizers keep what their papers say") {
  const RecipeBytes& mixed = bytes_of(StateRecipe::mixed_fp32_gradients);
  CHECK(optimizer_bytes_per_parameter(mixed, states_of(Optimizer::adam)) == 12);
  CHECK(optimizer_bytes_per_parameter(mixed, states_of(Optimizer::sgd_momentum)) == 8);
  CHECK(optimizer_bytes_per_parameter(mixed, states_of(Optimizer::sgd)) == 4);
  CHECK(optimizer_bytes_per_parameter(mixed, states_of(Optimizer::adam_8bit)) == 4 + 2 + 8.0 / 256);
  Plan plan = sharded_plan(0, ShardUnit::stage);
  plan.run.optimizer = Optimizer::adafactor;
  // One matrix of 100 rows and 50 columns: its sums in fp32, and the master copy.
  const ParameterCount count = count_on_rank({{"matrix", 5000, true, true, 100}}, 1, 1);
  CHECK(at(resident_states(plan, count).gpu, MemoryClass::optimizer_states).value == 4 * 5000 + 4 * (100 + 50));
}

TEST_CASE("offloaded states leave the GPU and arrive on the host, byte for byte") {
  Plan plan = sharded_plan(3, ShardUnit::block);
  const MemoryByClass on_gpu = stage_memory(plan, Stage(0)).resident;
  plan.run.offload.optimizer = Home::host;
  plan.run.offload.parameters = Home::nvme;
  const StageMemory offloaded = stage_memory(plan, Stage(0));
  CHECK(offloaded.host.value == (at(on_gpu, MemoryClass::optimizer_states) + at(on_gpu, MemoryClass::gradients)).value);
  CHECK(offloaded.nvme.value == at(on_gpu, MemoryClass::parameters).value);
  CHECK(at(offloaded.resident, MemoryClass::optimizer_states).value == 0);
  // Eight ranks on one node.
  NodeSpec node;
  node.devices.assign(8, DeviceSpec{});
  node.host_memory = {1e12};
  const HostMemory memory = host_memory(plan, lower(schedule_of(plan, "1f1b"), plan), node);
  CHECK(memory.host.value == 8 * offloaded.host.value);
  CHECK_FALSE(memory.fits());  // the node has no drives
}

TEST_CASE("offloaded activations stay on the GPU for two blocks only") {
  Layout layout;
  layout.pipeline = 4;
  layout.kernel = AttentionKernel::flash_2;
  layout.precision = Precision::bf16_mixed;
  Plan plan = plan_of(llama(64, 4, 4, 128, 4, 32, 256), layout);
  const Stage middle{1};  // one block, no embedding and no head
  const StageMemory kept = stage_memory(plan, middle);
  plan.run.offload.activations = Home::host;
  const StageMemory offloaded = stage_memory(plan, middle);
  CHECK((offloaded.activation_per_micro_batch + offloaded.offloaded_per_micro_batch).value ==
        kept.activation_per_micro_batch.value);
  const Bytes one = offloaded.offloaded_per_micro_batch;
  CHECK((offloaded.backward_working_set - kept.backward_working_set).value == Approx((one * 2).value));
}

TEST_CASE("of four blocks three send their activations away, one keeps them") {
  Layout layout;
  layout.kernel = AttentionKernel::flash_2;
  layout.precision = Precision::bf16_mixed;
  Plan plan = plan_of(llama(64, 4, 4, 128, 4, 32, 256), layout);
  const auto away = [&](std::int64_t blocks) {
    plan.run.offload.activations = Home::host;
    plan.run.offload.activation_blocks = blocks;
    return stage_memory(plan, Stage(0));
  };
  const StageMemory all = away(0), three = away(3);
  CHECK(three.offloaded_per_micro_batch.value == Approx(0.75 * all.offloaded_per_micro_batch.value));
  CHECK((three.activation_per_micro_batch - all.activation_per_micro_batch).value ==
        Approx(0.25 * all.offloaded_per_micro_batch.value));
  CHECK(away(4).offloaded_per_micro_batch == all.offloaded_per_micro_batch);
}

TEST_CASE("recompute scopes keep what their rule says of four blocks") {
  Plan plan = sharded_plan(0, ShardUnit::stage, 1);
  const auto kept = [&](RecomputeScope scope, std::int64_t number) {
    plan.run.recompute = Recompute::full;
    plan.run.recompute_scope = scope;
    plan.run.recompute_blocks = number;
    return stage_memory(plan, Stage(0)).activation_per_micro_batch.value;
  };
  const double input = 2.0 * 32 * 64;
  const double all = kept(RecomputeScope::every_block, 1);
  plan.run.recompute = Recompute::none;
  const double none = stage_memory(plan, Stage(0)).activation_per_micro_batch.value;
  const double saved = (none - all) / 4;  // by recomputing one block
  CHECK(kept(RecomputeScope::every_kth, 2) == Approx(none - 2 * saved));
  CHECK(kept(RecomputeScope::first_blocks, 3) == Approx(none - 3 * saved));
  CHECK(kept(RecomputeScope::groups, 4) == Approx(all - 3 * input));
  CHECK(kept(RecomputeScope::square_root, 1) == Approx(all - 2 * input));
}

TEST_CASE("what UNSHARD and the passes take they give back, on every kind of schedule") {
  for (const char* name : {"1f1b", "gpipe", "zb-h1", "interleaved-1f1b"}) {
    Layout layout;
    layout.pipeline = 2;
    layout.virtual_stages = std::string(name) == "interleaved-1f1b" ? 2 : 1;
    layout.data = 4;
    layout.micro_batches = 4;
    layout.zero_stage = 3;
    layout.kernel = AttentionKernel::flash_2;
    const Plan plan = plan_of(llama(64, 4, 4, 128, 4, 32, 256), layout);
    const Schedule schedule = lower(schedule_of(plan, name), plan);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(rank));
      INFO(name << " rank " << rank);
      CHECK(timeline.allocated.value == Approx(timeline.freed.value));
      CHECK(total(timeline.after).value == Approx(total(timeline.resident).value));
      CHECK(timeline.peak > total(timeline.resident));
    }
  }
}

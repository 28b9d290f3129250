#pragma once
// Small plans for the tests of this room, and the schedules that go with them.

#include <catch2/catch.hpp>

#include "memory/timeline.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"

namespace stagecraft::test {

/// A GPT as in arXiv 2205.05198: LayerNorm, GELU, biases, learned positions, tied embeddings, dropout, head width h/a,
/// 4h MLP.
inline ModelSpec gpt(std::int64_t hidden, std::int64_t heads, std::int64_t blocks, std::int64_t sequence,
                     std::int64_t vocabulary) {
  ModelSpec model;
  model.name = "gpt";
  model.hidden = hidden;
  model.blocks = blocks;
  model.vocabulary = vocabulary;
  model.sequence_length = sequence;
  model.attention.heads = heads;
  model.attention.kv_heads = heads;
  model.attention.head_dim = hidden / heads;
  model.mlp.ffn_hidden = 4 * hidden;
  model.dropout = 0.1;
  return model;
}

/// RMSNorm, SwiGLU, no biases, rotary positions, grouped-query attention, untied, no dropout.
inline ModelSpec llama(std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads, std::int64_t ffn,
                       std::int64_t blocks, std::int64_t sequence, std::int64_t vocabulary) {
  ModelSpec model = gpt(hidden, heads, blocks, sequence, vocabulary);
  model.name = "llama";
  model.attention.kv_heads = kv_heads;
  model.attention.bias = false;
  model.mlp = {ffn, true, Activation::silu, false};
  model.norm = Norm::rms_norm;
  model.positions = Positions::rotary;
  model.tied_embeddings = false;
  model.dropout = 0;
  return model;
}

struct Layout {
  std::int64_t tensor = 1, pipeline = 1, data = 1, virtual_stages = 1, micro_batch = 1, micro_batches = 1;
  bool sequence_parallel = false;
  Recompute recompute = Recompute::none;
  AttentionKernel kernel = AttentionKernel::fused_softmax;
  Precision precision = Precision::fp16_mixed;
  std::int64_t zero_stage = 0;
};

inline GpuSpec gpu() {
  GpuSpec gpu;
  gpu.name = "A100";
  gpu.architecture = "ampere";
  gpu.memory = {80e9};
  gpu.memory_usable = {79e9};
  for (const Dtype dtype : {Dtype::fp32, Dtype::tf32, Dtype::fp16, Dtype::bf16, Dtype::fp8}) gpu.peak[dtype] = {312e12};
  return gpu;
}

inline Plan plan_of(const ModelSpec& model, const Layout& layout) {
  Scenario scenario;
  scenario.model = model;
  scenario.cluster.gpu = gpu();
  scenario.cluster.node.devices.assign(8, DeviceSpec{});
  scenario.cluster.nodes = 1000;
  scenario.cluster.fabric.kind = FabricKind::fat_tree;
  RunSpec& run = scenario.run;
  run.parallel = {layout.tensor, 1, layout.pipeline, layout.data, layout.virtual_stages, layout.sequence_parallel};
  run.batch = {layout.micro_batch * layout.micro_batches * layout.data, layout.micro_batch};
  run.sequence_length = model.sequence_length;
  run.recompute = layout.recompute;
  run.attention_kernel = layout.kernel;
  run.precision = layout.precision;
  run.zero_stage = layout.zero_stage;
  run.recipe = StateRecipe::mixed_fp32_gradients;
  run.schedule.name = layout.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
  return make_plan(scenario);
}

/// The compute-only schedule of that name for the plan.
inline Schedule schedule_of(const Plan& plan, const char* name) {
  const FamilyEntry* entry = find_schedule(name);
  REQUIRE(entry != nullptr);
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  REQUIRE(entry->refuse(request).empty());
  return entry->generate(request);
}

constexpr double GiB = 1024.0 * 1024.0 * 1024.0;

}  // namespace stagecraft::test

#include "tiny_model.hpp"

#include <stdexcept>

#include "schedule/check.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

ModelSpec tiny_gpt(std::int64_t blocks) {
  ModelSpec model;
  model.name = "tiny-gpt";
  model.hidden = 32;
  model.blocks = blocks;
  model.vocabulary = 256;
  model.sequence_length = 16;
  model.attention = {4, 4, 8, true, true};
  model.mlp = {64, false, Activation::gelu, true};
  model.tied_embeddings = false;
  return model;
}

ModelSpec tiny_llama(std::int64_t blocks) {
  ModelSpec model = tiny_gpt(blocks);
  model.name = "tiny-llama";
  model.attention = {4, 2, 8, true, false};
  model.mlp = {48, true, Activation::silu, false};
  model.norm = Norm::rms_norm;
  model.positions = Positions::rotary;
  return model;
}

ModelSpec tiny_mlp(std::int64_t layers) {
  ModelSpec model;
  model.name = "tiny-mlp";
  model.tied_embeddings = false;
  double in = 8;
  for (std::int64_t i = 0; i < layers; ++i) {
    const double out = i + 1 == layers ? 4 : 16;
    model.plain_layers.push_back(
        {"linear" + std::to_string(i), Flops{2 * in * out}, out * (in + 1), Bytes{4 * out}, Bytes{4 * (in + out)}});
    in = out;
  }
  return model;
}

Plan tiny_plan(const ModelSpec& model, const TinyLayout& layout) {
  Plan plan;
  plan.model = model;
  plan.run.parallel.tensor = layout.tensor;
  plan.run.parallel.data = layout.data;
  plan.run.parallel.pipeline = layout.pipeline;
  plan.run.parallel.virtual_stages = layout.chunks;
  plan.run.parallel.sequence_parallel = layout.sequence_parallel;
  plan.run.batch.micro = 2;
  plan.run.batch.global = 2 * layout.micro_batches * layout.data;
  plan.run.sequence_length = model.plain_layers.empty() ? model.sequence_length : 1;
  plan.run.precision = Precision::fp32;
  plan.run.attention_kernel = AttentionKernel::unfused;
  plan.run.zero_stage = layout.zero_stage;
  plan.run.gradient_bucket_bytes = 16384;  // several buckets per stage
  plan.degrees = {layout.tensor, 1, layout.data, layout.pipeline};
  plan.micro_batches = layout.micro_batches;
  plan.layers = layers_of(model);
  plan.stages = partition_layers(model, plan.run);
  return plan;
}

Schedule lowered_schedule(const std::string& name, const Plan& plan) {
  const FamilyEntry* const entry = find_schedule(name);
  if (entry == nullptr) throw std::runtime_error("no schedule " + name);
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  const Findings refused = entry->refuse(request);
  if (!refused.empty()) throw std::runtime_error(name + ": " + to_text(refused.front()));
  Schedule schedule = lower(entry->generate(request), plan);
  const Findings findings = check_schedule(schedule);
  if (has_errors(findings)) throw std::runtime_error(name + ": " + to_text(findings.front()));
  return schedule;
}

}  // namespace stagecraft

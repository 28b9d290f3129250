#pragma once
// Plans of models small enough for a test, and the lowered schedules that run them.

#include <string>

#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

struct TinyLayout {
  std::int32_t tensor = 1, data = 1, pipeline = 1, chunks = 1;
  std::int32_t micro_batches = 4;
  std::int64_t zero_stage = 0;
  bool sequence_parallel = false;
};

/// GPT (LayerNorm, GELU, learned positions, biases) or Llama (RMSNorm, gated SiLU, rotary, grouped queries, no biases):
/// hidden 32, 4 heads, 16 tokens, vocabulary 256, `blocks` blocks, 2 sequences per micro-batch, fp32, untied, unfused
/// attention.
ModelSpec tiny_gpt(std::int64_t blocks);
ModelSpec tiny_llama(std::int64_t blocks);
/// Linear layers 8 -> 16 -> ... -> 16 -> 4.
ModelSpec tiny_mlp(std::int64_t layers);

Plan tiny_plan(const ModelSpec& model, const TinyLayout& layout);

/// The schedule of this name for the plan, lowered and checked. Throws std::runtime_error if it is refused or has
/// findings.
Schedule lowered_schedule(const std::string& name, const Plan& plan);

}  // namespace stagecraft

// One small dense model on two pipeline and two tensor ranks, worked out by hand: every tensor of both stages.
//
// h = 8, a = 2 (head width 4), f = 32, 2 blocks, s = 16, micro-batch 1, vocabulary 256 (a multiple of 128 * t),
// LayerNorm, GELU, biases, learned positions, tied embeddings, dropout, scores materialised, fp16 mixed, t = 2 with
// sequence parallelism, p = 2, d = 4 with ZeRO-1, two micro-batches, 1F1B.
#include "memory/overhead.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

Plan small_plan() {
  Layout layout;
  layout.tensor = 2;
  layout.pipeline = 2;
  layout.data = 4;
  layout.micro_batches = 2;
  layout.sequence_parallel = true;
  layout.zero_stage = 1;
  return plan_of(gpt(8, 2, 2, 16, 256), layout);
}

// Parameters of one block on one of two tensor ranks.
constexpr double norms = 2 * (8 + 8);           // two LayerNorms: weight and bias, on every rank
constexpr double qkv = (8 * 24 + 24) / 2.0;     // columns divided, bias with them
constexpr double projection = 8 * 8 / 2.0 + 8;  // rows divided, bias whole
constexpr double up = (8 * 32 + 32) / 2.0;
constexpr double down = 32 * 8 / 2.0 + 8;
constexpr double block = norms + qkv + projection + up + down;
constexpr double word_embedding = 256 * 8 / 2.0;  // rows divided
constexpr double positions = 16 * 8;              // whole
constexpr double final_norm = 8 + 8;

// Kept of one micro-batch by one block on one rank, in bytes; 16 tokens, of which 8 are this rank's under sequence
// parallelism.
constexpr double attention_kept = 2 * 8 * 8                // norm input
                                  + 8 * 8                  // norm statistics: two fp32 a token
                                  + 2 * 8 * 8              // qkv input
                                  + 3 * 2 * 16 * 4         // query, key, value of one head of width 4
                                  + (2 + 1 + 2) * 16 * 16  // softmax output, dropout mask, dropout output of one head
                                  + 2 * 16 * 4             // projection input
                                  + 8 * 8;                 // residual dropout mask
constexpr double mlp_kept = 2 * 8 * 8                      // norm input
                            + 8 * 8                        // norm statistics
                            + 2 * 8 * 8                    // up input
                            + 2 * 16 * 16                  // GELU input: 32 / 2 columns
                            + 2 * 16 * 16                  // down input
                            + 8 * 8;                       // residual dropout mask
constexpr double block_kept = attention_kept + mlp_kept;

}  // namespace

TEST_CASE("hand-worked: parameters and model states of both stages") {
  const Plan plan = small_plan();
  const StageMemory first = stage_memory(plan, Stage(0)), last = stage_memory(plan, Stage(1));
  CHECK(first.parameters == word_embedding + positions + block);
  CHECK(last.parameters == block + final_norm + word_embedding);  // with a copy of the tied embedding
  CHECK(last.tied_copy == word_embedding);
  CHECK(at(first.resident, MemoryClass::parameters).value == 2 * first.parameters);
  CHECK(at(first.resident, MemoryClass::gradients).value == 4 * first.parameters);
  CHECK(at(first.resident, MemoryClass::optimizer_states).value == 12 * first.parameters / 4);
}

TEST_CASE("hand-worked: activations of both stages") {
  const Plan plan = small_plan();
  const StageMemory first = stage_memory(plan, Stage(0)), last = stage_memory(plan, Stage(1));
  const double ids = 2 * 8 * 16, embedding_mask = 8 * 8;
  CHECK(first.activation_per_micro_batch.value == ids + embedding_mask + block_kept);
  CHECK(first.logits_per_micro_batch.value == 0);
  const double final_norm_kept = 2 * 8 * 8 + 8 * 8, head_input = 2 * 8 * 8;
  CHECK(last.activation_per_micro_batch.value == block_kept + final_norm_kept + head_input);
  const double softmax = 4 * 16 * 128, labels = 2 * 8 * 16, target_mask = 16;
  CHECK(last.logits_per_micro_batch.value == softmax + labels + target_mask);
  CHECK(first.output.value == 2 * 8 * 8);  // this rank's half of the sequence
  CHECK(first.message.value == 2 * 8 * 8);
  CHECK(last.input.value == first.output.value);
  CHECK(last.output.value == 0);
}

TEST_CASE("hand-worked: the curve of the first rank over its step") {
  const Plan plan = small_plan();
  const Schedule schedule = lower(schedule_of(plan, "1f1b"), plan);
  const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(0));
  const double kept = stage_memory(plan, Stage(0)).activation_per_micro_batch.value;
  const auto& program = schedule.programs[0];
  std::size_t forwards = 0, backwards = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const double activations = at(timeline.while_op[i], MemoryClass::activations).value;
    if (program[i].kind == OpKind::forward) {
      ++forwards;
      // At the end of a block: the last GEMM's whole output, its scattered half, the block's output.
      CHECK(activations == static_cast<double>(forwards) * kept + 2 * 16 * 8 + 2 * 8 * 8 + 2 * 8 * 8);
    }
    if (program[i].kind == OpKind::backward) {
      CHECK(activations > static_cast<double>(2 - backwards) * kept);
      ++backwards;
    }
    if (program[i].kind == OpKind::optimizer_step) CHECK(activations == 0);
  }
  CHECK(forwards == 2);
  CHECK(backwards == 2);
}

TEST_CASE("hand-worked: the gathered input of sequence parallelism is held once per rank") {
  const Plan plan = small_plan();
  CHECK(at(fixed_memory(plan), MemoryClass::communication).value == 2 * 16 * 8);
}

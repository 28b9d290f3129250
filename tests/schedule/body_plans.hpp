#pragma once
// Plans for tests of bodies: one dense model with round numbers, changed by each test.

#include <string_view>
#include <utility>

#include "plan/plan.hpp"
#include "schedule/body.hpp"

namespace stagecraft::testing {

/// Eight blocks of hidden size 1024, 16 heads of 64, MLP 4096, vocabulary 8192, sequences of 512 tokens, micro-batches
/// of 2; one rank, no dropout, fp16, unfused attention matrices with a fused softmax.
inline Scenario dense_scenario() {
  Scenario scenario;
  ModelSpec& model = scenario.model;
  model.name = "dense";
  model.hidden = 1024;
  model.blocks = 8;
  model.vocabulary = 8192;
  model.sequence_length = 512;
  model.attention = {16, 16, 64, true, false};
  model.mlp = {4096, false, Activation::gelu, false};
  RunSpec& run = scenario.run;
  run.sequence_length = 512;
  run.batch = {8, 2};
  run.precision = Precision::fp16_mixed;
  run.fp32_gradients = false;
  run.attention_kernel = AttentionKernel::fused_softmax;
  return scenario;
}

/// The same with 8 experts of inner width 512, spread over 4 ranks; 2 experts per token.
inline Scenario expert_scenario() {
  Scenario scenario = dense_scenario();
  scenario.model.moe.experts = 8;
  scenario.model.moe.top_k = 2;
  scenario.model.moe.ffn_hidden = 512;
  scenario.run.parallel.data = 4;
  scenario.run.parallel.expert = 4;
  return scenario;
}

inline const Body& body_of(const Bodies& bodies, std::size_t stage, OpKind kind) {
  return bodies.bodies[bodies.of_stage[stage][static_cast<std::size_t>(kind)].index()];
}

/// Of bodies that end with the expression: a copy that outlives them.
inline Body body_of(Bodies&& bodies, std::size_t stage, OpKind kind) {
  return body_of(std::as_const(bodies), stage, kind);
}

inline double flops(const Bodies& bodies, std::size_t stage, OpKind kind) {
  return flops_of(body_of(bodies, stage, kind)).value;
}

/// The part that repeats once per block.
inline const BodyPart& block_part(const Body& body, std::int32_t blocks) {
  for (const BodyPart& part : body.parts) {
    if (part.repeat == blocks) return part;
  }
  return body.parts.at(body.parts.size());  // throws
}

inline BodyPart block_part(Body&& body, std::int32_t blocks) {
  return block_part(std::as_const(body), blocks);
}

/// The repeated part of the first stage of a scenario of eight blocks.
inline BodyPart block_of(const Scenario& scenario, OpKind kind) {
  return block_part(body_of(make_bodies(make_plan(scenario)), 0, kind), 8);
}

inline double bytes_of(const BodyPart& part, std::string_view name) {
  double sum = 0;
  for (const Segment& segment : part.segments) {
    if (name == segment.name)
      sum += segment.is_collective ? segment.collective.bytes.value : segment.kernel.bytes.value;
  }
  return sum;
}

inline int count_collectives(const BodyPart& part, CollectiveKind kind, double bytes) {
  int count = 0;
  for (const Segment& segment : part.segments) {
    if (segment.is_collective && segment.collective.kind == kind && segment.collective.bytes.value == bytes) ++count;
  }
  return count;
}

inline const Kernel& kernel_of(const BodyPart& part, std::string_view name) {
  for (const Segment& segment : part.segments) {
    if (name == segment.name) return segment.kernel;
  }
  return part.segments.at(part.segments.size()).kernel;  // throws
}

}  // namespace stagecraft::testing

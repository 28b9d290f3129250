#include <catch2/catch.hpp>
#include <set>

#include "body_plans.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double tokens = 2 * 512, h = 1024;
constexpr double whole = tokens * h * 2;  // an fp16 activation of a micro-batch

Scenario tensor_parallel(bool sequence_parallel) {
  Scenario scenario = dense_scenario();
  scenario.run.parallel.tensor = 4;
  scenario.run.parallel.sequence_parallel = sequence_parallel;
  return scenario;
}

}  // namespace

TEST_CASE("tensor parallelism all-reduces after attention and MLP, forward and backward") {
  const Bodies bodies = make_bodies(make_plan(tensor_parallel(false)));
  for (const OpKind kind : {OpKind::forward, OpKind::backward, OpKind::input_grad}) {
    const BodyPart& block = block_part(body_of(bodies, 0, kind), 8);
    CHECK(count_collectives(block, CollectiveKind::all_reduce, whole) == 2);
    CHECK(count_collectives(block, CollectiveKind::all_gather, whole) == 0);
  }
  CHECK(count_collectives(block_part(body_of(bodies, 0, OpKind::weight_grad), 8), CollectiveKind::all_reduce, whole) ==
        0);
}

TEST_CASE("sequence parallelism splits each all-reduce and gathers the kept shard again for the weights") {
  const Bodies bodies = make_bodies(make_plan(tensor_parallel(true)));
  const BodyPart& forward = block_part(body_of(bodies, 0, OpKind::forward), 8);
  CHECK(count_collectives(forward, CollectiveKind::all_gather, whole) == 2);
  CHECK(count_collectives(forward, CollectiveKind::reduce_scatter, whole) == 2);
  const BodyPart& backward = block_part(body_of(bodies, 0, OpKind::backward), 8);
  CHECK(count_collectives(backward, CollectiveKind::all_gather, whole) == 4);
  CHECK(count_collectives(backward, CollectiveKind::reduce_scatter, whole) == 2);
  CHECK(count_collectives(block_part(body_of(bodies, 0, OpKind::weight_grad), 8), CollectiveKind::all_gather, whole) ==
        2);
}

TEST_CASE("norms and residuals see a share of the sequence only under sequence parallelism") {
  const BodyPart all = block_of(tensor_parallel(false), OpKind::forward);
  const BodyPart share = block_of(tensor_parallel(true), OpKind::forward);
  CHECK(bytes_of(all, "mlp-norm") == 2 * whole);  // read once, written once
  CHECK(bytes_of(share, "mlp-norm") == 2 * whole / 4);
  CHECK(bytes_of(all, "mlp-residual") == 3 * whole);  // two inputs, one output
  CHECK(bytes_of(share, "mlp-residual") == 3 * whole / 4);
}

TEST_CASE("the loss exchanges one fp32 number per token three times") {
  const Bodies bodies = make_bodies(make_plan(tensor_parallel(false)));
  const BodyPart& last = body_of(bodies, 0, OpKind::forward).parts.back();
  CHECK(count_collectives(last, CollectiveKind::all_reduce, tokens * 4) == 3);
}

TEST_CASE("a scattered transfer ends in an all-gather before the body that needs it") {
  Scenario scenario = tensor_parallel(false);
  scenario.run.parallel.pipeline = 4;
  scenario.run.scatter_gather = true;
  const auto opens = [](const Bodies& bodies, std::size_t stage, OpKind kind) {
    return std::string(body_of(bodies, stage, kind).parts[0].segments[0].name) == "receive-all-gather";
  };
  const Bodies scattered = make_bodies(make_plan(scenario));
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CHECK(opens(scattered, stage, OpKind::forward) == (stage > 0));
    CHECK(opens(scattered, stage, OpKind::backward) == (stage < 3));
    CHECK(opens(scattered, stage, OpKind::input_grad) == (stage < 3));
    CHECK_FALSE(opens(scattered, stage, OpKind::weight_grad));
  }
  scenario.run.scatter_gather = false;
  CHECK_FALSE(opens(make_bodies(make_plan(scenario)), 1, OpKind::forward));
  scenario.run.scatter_gather = true;
  scenario.run.parallel.sequence_parallel = true;  // the next norm works on the shard
  CHECK_FALSE(opens(make_bodies(make_plan(scenario)), 1, OpKind::forward));
}

TEST_CASE("two stages of one rank hand over in place") {
  Scenario scenario = tensor_parallel(false);
  scenario.run.parallel.pipeline = 2;
  scenario.run.parallel.virtual_stages = 2;
  // A V: rank 0 holds stages 0 and 3, rank 1 holds 1 and 2.
  const std::vector<PipelineRank> v{PipelineRank{0}, PipelineRank{1}, PipelineRank{1}, PipelineRank{0}};
  const Bodies bodies = make_bodies(make_plan(scenario), v);
  const auto first = [&](std::size_t stage) {
    return std::string(body_of(bodies, stage, OpKind::forward).parts[0].segments[0].name);
  };
  CHECK(first(1) == "receive-all-gather");
  CHECK(first(2) == "attention-norm");
  CHECK(first(3) == "receive-all-gather");
}

TEST_CASE("stages of equal composition share their bodies") {
  Scenario scenario = tensor_parallel(false);
  scenario.run.parallel.pipeline = 8;
  const Bodies bodies = make_bodies(make_plan(scenario));
  std::set<BodyId> forward;
  for (const auto& stage : bodies.of_stage) forward.insert(stage[static_cast<std::size_t>(OpKind::forward)]);
  CHECK(forward.size() == 3);  // first, middle, last
}

TEST_CASE("without fused kernels the same FLOPs move more bytes in more launches") {
  Scenario scenario = dense_scenario();
  scenario.model.dropout = 0.1;
  scenario.model.mlp.bias = true;
  scenario.model.attention.bias = true;
  const Body fused = body_of(make_bodies(make_plan(scenario)), 0, OpKind::forward);
  scenario.run.fused_kernels = false;
  scenario.run.attention_kernel = AttentionKernel::unfused;
  const Body unfused = body_of(make_bodies(make_plan(scenario)), 0, OpKind::forward);
  CHECK(flops_of(unfused).value == flops_of(fused).value);
  CHECK(kernel_bytes_of(unfused).value > kernel_bytes_of(fused).value);
  const auto launches = [](const Body& body) {
    int sum = 0;
    for (const Segment& segment : block_part(body, 8).segments) sum += segment.kernel.launches;
    return sum;
  };
  CHECK(launches(unfused) > launches(fused));
}

TEST_CASE("the optimizer moves 62 bytes per fp16 parameter, and its share of 60 under ZeRO 1") {
  Scenario scenario = dense_scenario();
  const auto bytes = [](const Scenario& from) {
    const Plan plan = make_plan(from);
    const Bodies bodies = make_bodies(plan);
    double sum = 0;  // of clipping and of the update
    for (const Segment& segment : body_of(bodies, 0, OpKind::optimizer_step).parts[0].segments) {
      sum += segment.kernel.bytes.value;
    }
    return sum / parameters_per_rank(plan, Stage{0});
  };
  CHECK(bytes(scenario) == Approx(62));
  scenario.run.parallel.data = 4;
  scenario.run.zero_stage = 1;
  CHECK(bytes(scenario) == Approx(2 + 60.0 / 4));
}

TEST_CASE("the last of several stages holds its own copy of tied embeddings") {
  Scenario scenario = dense_scenario();
  scenario.run.parallel.pipeline = 2;
  Plan plan = make_plan(scenario);
  const double tied = parameters_per_rank(plan, Stage{1});
  const double embedding = 8192.0 * 1024;
  plan.model.tied_embeddings = false;
  CHECK(tied == parameters_per_rank(plan, Stage{1}));
  CHECK(tied > embedding);
}

TEST_CASE("a cross-entropy of fp32 logits gathers them, and every tensor rank works on all") {
  Scenario scenario = tensor_parallel(false);
  scenario.run.loss_kernel = LossKernel::full_fp32;
  const Bodies bodies = make_bodies(make_plan(scenario));
  constexpr double logits = tokens * 8192;
  const BodyPart& forward = body_of(bodies, 0, OpKind::forward).parts.back();
  CHECK(count_collectives(forward, CollectiveKind::all_gather, logits * 2) == 1);
  CHECK(count_collectives(forward, CollectiveKind::all_reduce, tokens * 4) == 0);
  CHECK(bytes_of(forward, "logits-join") == logits * 2 * 2);  // read and written in fp16
  CHECK(bytes_of(forward, "loss") == logits * (2 + 4 + 4 + 4));
  const BodyPart& backward = body_of(bodies, 0, OpKind::backward).parts.front();
  CHECK(bytes_of(backward, "loss-grad") == logits * (16 + 6));
  CHECK(bytes_of(backward, "logits-grad-share") == logits / 4 * 2 * 2);
  scenario.run.parallel.tensor = 1;
  const Bodies alone = make_bodies(make_plan(scenario));
  CHECK(bytes_of(body_of(alone, 0, OpKind::forward).parts.back(), "loss") == logits * 14);
  CHECK(bytes_of(body_of(alone, 0, OpKind::forward).parts.back(), "logits-join") == 0);
}

TEST_CASE("the host waits once per block and forward pass where it reads the packed lengths back") {
  Scenario scenario = dense_scenario();
  const auto waits = [&](OpKind kind) {
    double count = 0;
    const Bodies bodies = make_bodies(make_plan(scenario));
    for (const BodyPart& part : body_of(bodies, 0, kind).parts) {
      for (const Segment& segment : part.segments) {
        const bool wait = !segment.is_collective && segment.kernel.kind == KernelKind::host_sync;
        count += wait ? part.repeat : 0;
      }
    }
    return count;
  };
  CHECK(waits(OpKind::forward) == 0);
  scenario.run.host.attention_waits = true;
  CHECK(waits(OpKind::forward) == 8);
  CHECK(waits(OpKind::backward) == 0);
  scenario.run.recompute = Recompute::full;
  CHECK(waits(OpKind::recompute) == 8);
}

TEST_CASE("rotary positions pass queries and keys once, YaRN's in Megatron-LM operation by operation") {
  const double rotated = tokens * (16 + 16) * 64 * 2;  // queries and keys, fp16
  Scenario scenario = dense_scenario();
  const auto passes = [&](OpKind kind, const char* name) {
    const Kernel kernel = kernel_of(block_of(scenario, kind), name);
    return std::pair{kernel.bytes.value / rotated, kernel.launches};
  };
  scenario.model.positions = Positions::rotary;
  CHECK(passes(OpKind::forward, "rotary") == std::pair{2.0, 1});
  CHECK(passes(OpKind::backward, "rotary-grad") == std::pair{2.0, 1});
  scenario.run.fused_kernels = false;
  CHECK(passes(OpKind::forward, "rotary") == std::pair{9.0, 4});
  scenario.run.fused_kernels = true;
  scenario.model.positions = Positions::yarn;
  // Forward, each of queries and keys: times cosines (read, write: 2), the negated half (1), joined to the other (2),
  // times sines (2), the sum (3), joined to what is not rotated, of which there is nothing (2).
  CHECK(passes(OpKind::forward, "rotary") == std::pair{12.0, 12});
  // Backward: times cosines and sines (4), the half negated back (1), both halves joined (2), added (3); the slice's
  // gradient: zeros (1) that it is copied into (2); that of the other part: zeros (1), added (3).
  CHECK(passes(OpKind::backward, "rotary-grad") == std::pair{17.0, 18});
  scenario.run.framework = Framework::fsdp;  // a compiler fuses it like any other
  CHECK(passes(OpKind::forward, "rotary") == std::pair{2.0, 1});
}

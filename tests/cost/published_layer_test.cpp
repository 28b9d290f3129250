// Per-layer times that Korthikanti et al. print (arXiv 2205.05198, table 4): one block of the 22B model, tensor degree
// 8, micro-batch 4, on A100. The unit test of GEMMs, attention, element-wise kernels and tensor-parallel collectives
// together.

#include <catch2/catch.hpp>
#include <cmath>

#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

Plan block_of_22b(bool sequence_parallel, Recompute recompute) {
  Scenario scenario;
  scenario.cluster = dgx_a100(1);
  ModelSpec& model = scenario.model;
  model.name = "gpt-22b";
  model.hidden = 6144;
  model.blocks = 48;
  model.vocabulary = 51200;
  model.sequence_length = 2048;
  model.attention = {64, 64, 96, true, true};
  model.mlp = {4 * 6144, false, Activation::gelu, true};
  model.dropout = 0.1;
  RunSpec& run = scenario.run;
  run.parallel.tensor = 8;
  run.parallel.sequence_parallel = sequence_parallel;
  run.batch = {4, 4};
  run.sequence_length = 2048;
  run.precision = Precision::fp16_mixed;
  run.fp32_gradients = false;
  run.attention_kernel = AttentionKernel::fused_softmax;
  run.recompute = recompute;
  run.overlap.tensor = true;  // the backward all-reduce runs behind the weight gradient since 2022
  return make_plan(scenario);
}

double milliseconds_per_block(const Plan& plan, OpKind kind) {
  const Topology topology = build_topology(dgx_a100(1));
  const CostModel model = make_cost_model(plan, topology, shipped("a100-hdr+megatron-2022"));
  const Bodies bodies = make_bodies(plan);
  const BodyId id = bodies.of_stage[0][static_cast<std::size_t>(kind)];
  if (!id.valid()) return 0;
  const BodyTime time = time_bodies(model, bodies, plan)[id.index()];
  double sum = 0;
  for (std::size_t p = 0; p < time.segments.size(); ++p) {
    if (bodies.bodies[id.index()].parts[p].repeat != 48) continue;
    for (const SegmentTime& segment : time.segments[p]) sum += 1e3 * segment.time.value;
  }
  return sum;
}

}  // namespace

TEST_CASE("a block of GPT 22B takes the milliseconds that were published") {
  struct Row {
    const char* name;
    bool sequence_parallel;
    Recompute recompute;
    double forward, backward;
  };
  const std::vector<Row> rows{{"baseline", false, Recompute::none, 7.7, 11.9},
                              {"sequence parallelism", true, Recompute::none, 7.2, 11.8},
                              {"full recompute", false, Recompute::full, 7.7, 19.5},
                              {"selective recompute", false, Recompute::selective, 7.7, 13.2},
                              {"selective and sequence parallelism", true, Recompute::selective, 7.2, 13.1}};
  double total_error = 0;
  for (const Row& row : rows) {
    const Plan plan = block_of_22b(row.sequence_parallel, row.recompute);
    const double forward = milliseconds_per_block(plan, OpKind::forward);
    const double backward =
        milliseconds_per_block(plan, OpKind::backward) + milliseconds_per_block(plan, OpKind::recompute);
    INFO(row.name << ": forward " << forward << " ms (" << row.forward << "), backward " << backward << " ms ("
                  << row.backward << ")");
    CHECK(forward == Approx(row.forward).epsilon(0.08));
    CHECK(backward == Approx(row.backward).epsilon(0.08));
    total_error += std::abs((forward + backward) / (row.forward + row.backward) - 1);
  }
  CHECK(total_error / static_cast<double>(rows.size()) < 0.04);
}

#include <catch2/catch.hpp>

#include "cost/straggler.hpp"
#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

BodyTime backward(const Scenario& scenario, const Calibration& calibration) {
  const Plan plan = make_plan(scenario);
  const CostModel model = make_cost_model(plan, build_topology(scenario.cluster), calibration);
  const Bodies bodies = make_bodies(plan);
  const BodyId id = bodies.of_stage[0][static_cast<std::size_t>(OpKind::backward)];
  return time_bodies(model, bodies, plan)[id.index()];
}

}  // namespace

TEST_CASE("a body takes the sum of its segments, parts repeated once per block") {
  const Scenario scenario = small_scenario();
  const Plan plan = make_plan(scenario);
  const Bodies bodies = make_bodies(plan);
  const CostModel model = make_cost_model(plan, build_topology(scenario.cluster), shipped("a100-hdr"));
  const std::vector<BodyTime> times = time_bodies(model, bodies, plan);
  REQUIRE(times.size() == bodies.bodies.size());
  for (std::size_t b = 0; b < times.size(); ++b) {
    double sum = 0;
    for (std::size_t p = 0; p < times[b].segments.size(); ++p) {
      REQUIRE(times[b].segments[p].size() == bodies.bodies[b].parts[p].segments.size());
      for (const SegmentTime& segment : times[b].segments[p])
        sum += segment.time.value * bodies.bodies[b].parts[p].repeat;
    }
    CHECK(times[b].total.expected.value == Approx(sum));
    CHECK((times[b].kernels + times[b].collectives).value == Approx(sum));
    CHECK(times[b].total.low <= times[b].total.expected);
    CHECK(times[b].total.expected <= times[b].total.high);
  }
}

TEST_CASE("with tensor overlap a backward shows only what sticks out of the weight gradient's product") {
  Scenario scenario = small_scenario();
  const BodyTime apart = backward(scenario, ideal_calibration());
  scenario.run.overlap.tensor = true;
  const BodyTime behind = backward(scenario, ideal_calibration());
  CHECK(behind.kernels.value == Approx(apart.kernels.value));
  CHECK(behind.collectives < apart.collectives);
  CHECK(behind.collectives.value >= 0);
}

TEST_CASE("a host that launches too slowly sets the pace of a body's kernels") {
  const Scenario scenario = small_scenario();
  Calibration calibration = ideal_calibration();
  const BodyTime fast = backward(scenario, calibration);
  calibration.constants["host_launch_us"].value = 1e-3;  // a nanosecond per kernel
  CHECK(backward(scenario, calibration).kernels.value == Approx(fast.kernels.value));
  calibration.constants["host_launch_us"].value = 1e5;  // a tenth of a second per kernel
  const BodyTime slow = backward(scenario, calibration);
  const Plan plan = make_plan(scenario);
  const Bodies bodies = make_bodies(plan);
  double launches = 0;
  for (const BodyPart& part :
       bodies.bodies[bodies.of_stage[0][static_cast<std::size_t>(OpKind::backward)].index()].parts) {
    for (const Segment& segment : part.segments) launches += segment.kernel.launches * part.repeat;
  }
  // While the GPU waits for its collectives the host launches on.
  CHECK(slow.collectives.value > 0);
  CHECK(slow.total.expected.value == Approx(0.1 * launches));
}

TEST_CASE("kernels last longer by the spread of the ranks times the expected maximum over them") {
  const Scenario scenario = small_scenario();
  Calibration calibration = ideal_calibration();
  const BodyTime alike = backward(scenario, calibration);
  calibration.constants["rank_spread"].value = 0.1;
  const BodyTime spread = backward(scenario, calibration);
  const double ranks = static_cast<double>(world_size(make_plan(scenario).degrees));
  CHECK(alike.waiting.value == 0);
  CHECK(spread.kernels.value == Approx(alike.kernels.value * (1 + 0.1 * expected_maximum(ranks))));
  CHECK(spread.waiting.value == Approx(spread.kernels.value - alike.kernels.value));
}

TEST_CASE("blocks that meet in collectives of the sharding group wait in each of them") {
  Scenario scenario = small_scenario();
  scenario.run.zero_stage = 3;
  scenario.run.sharding.unit = ShardUnit::block;
  Calibration calibration = ideal_calibration();
  const BodyTime alike = backward(scenario, calibration);
  calibration.constants["block_spread"].value = 0.1;
  const BodyTime spread = backward(scenario, calibration);
  CHECK(spread.kernels.value == Approx(alike.kernels.value));
  CHECK(spread.waiting.value > 0);
  CHECK(spread.total.expected.value == Approx(alike.total.expected.value + spread.waiting.value));
  scenario.run.zero_stage = 0;
  CHECK(backward(scenario, calibration).waiting.value == 0);
}

TEST_CASE("gradients are reduced whole, or scattered and gathered again under ZeRO 1") {
  Scenario scenario = small_scenario();
  Op op;
  op.kind = OpKind::reduce_grad;
  op.stage = Stage{0};
  Plan plan = make_plan(scenario);
  const double parameters = parameters_per_rank(plan, Stage{0});
  CHECK(collective_of(plan, op).kind == CollectiveKind::all_reduce);
  CHECK(collective_of(plan, op).bytes.value == Approx(2 * parameters));  // fp16
  scenario.run.zero_stage = 1;
  plan = make_plan(scenario);
  CHECK(collective_of(plan, op).kind == CollectiveKind::reduce_scatter);
  scenario.run.sharding.reduce_scatter = false;  // every rank gets the whole sum
  plan = make_plan(scenario);
  CHECK(collective_of(plan, op).kind == CollectiveKind::all_reduce);
  scenario.run.gradient_compression = GradientCompression::fp32;
  CHECK(collective_of(make_plan(scenario), op).bytes.value == Approx(4 * parameters));
  scenario.run.sharding.reduce_scatter = true;
  scenario.run.gradient_compression = GradientCompression::none;
  plan = make_plan(scenario);
  op.kind = OpKind::gather_params;
  CHECK(collective_of(plan, op).kind == CollectiveKind::all_gather);
  // Two ranks on two nodes, one NIC each at 10 GB/s.
  const Topology topology = build_topology(scenario.cluster);
  const CostModel model = make_cost_model(plan, topology, ideal_calibration());
  Schedule schedule;
  schedule.placement = {{PipelineRank{0}}};
  const CollectiveTime time = time_of(model, schedule, plan, topology, PipelineRank{0}, op);
  CHECK(time.total.expected.value == Approx(2 * parameters / 2 / 10e9));
}

TEST_CASE("exposed collectives of a body are told apart by what they serve") {
  const auto sum = [](const ExposedTime& e) { return (e.tensor + e.context + e.expert + e.data + e.copies).value; };
  Scenario scenario = small_scenario();
  const BodyTime tensor = backward(scenario, ideal_calibration());
  CHECK(tensor.exposed.tensor.value > 0);
  CHECK(tensor.exposed.tensor.value == Approx(tensor.collectives.value));

  scenario.run.zero_stage = 3;
  scenario.run.sharding.unit = ShardUnit::block;
  const BodyTime sharded = backward(scenario, ideal_calibration());
  CHECK(sharded.exposed.tensor.value == Approx(tensor.exposed.tensor.value));
  CHECK(sharded.exposed.data.value == Approx(sharded.collectives.value - tensor.collectives.value));
  CHECK(sharded.exposed.data.value > 0);

  Scenario context = small_scenario();
  context.run.parallel.tensor = 1;
  context.run.parallel.data = 4;
  context.run.parallel.context = 4;
  context.run.batch = {4, 1};
  context.run.attention_kernel = AttentionKernel::flash_2;
  context.run.overlap.context = false;
  const BodyTime ring = backward(context, ideal_calibration());
  CHECK(ring.exposed.context.value > 0);
  CHECK(ring.exposed.context.value == Approx(ring.collectives.value));

  Scenario experts = small_scenario();
  experts.run.parallel.tensor = 1;
  experts.run.parallel.data = 16;
  experts.run.parallel.expert = 8;
  experts.run.batch = {16, 1};
  experts.model.moe.experts = 8;
  experts.model.moe.top_k = 2;
  experts.model.moe.ffn_hidden = 2048;
  const BodyTime dispatch = backward(experts, ideal_calibration());
  CHECK(dispatch.exposed.expert.value > 0);
  CHECK(dispatch.exposed.expert.value == Approx(dispatch.collectives.value));

  for (const BodyTime& time : {tensor, sharded, ring, dispatch}) {
    CHECK(sum(time.exposed) == Approx(time.collectives.value));
  }
}

// What a ZeRO-3 step moves, block by block: 8 blocks of 12 h^2 weights (and two norms) on 4 ranks, fp16.
#include <catch2/catch.hpp>

#include "body_plans.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

Scenario sharded() {
  Scenario scenario = dense_scenario();
  scenario.run.parallel.data = 4;
  scenario.run.zero_stage = 3;
  scenario.run.sharding.unit = ShardUnit::block;
  return scenario;
}

// qkv 3 h^2, projection h^2, MLP 8 h^2, two layer norms of 2 h.
constexpr double block = 12.0 * 1024 * 1024 + 4 * 1024;
// Table and positions; the final norm (the head is tied).
constexpr double ends = (8192.0 + 512) * 1024 + 2 * 1024;

double moved(const Scenario& scenario, OpKind op, CollectiveKind kind) {
  double sum = 0;
  const Bodies bodies = make_bodies(make_plan(scenario));
  for (const BodyPart& part : body_of(bodies, 0, op).parts) {
    for (const Segment& segment : part.segments) {
      if (segment.is_collective && segment.collective.kind == kind) sum += segment.collective.bytes.value * part.repeat;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("ZeRO 3 gathers parameters in both passes and scatters gradients in the backward pass") {
  const Scenario scenario = sharded();
  CHECK(moved(scenario, OpKind::forward, CollectiveKind::all_gather) == 2 * (8 * block + ends));
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::all_gather) == 2 * 8 * block);  // the ends stay gathered
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::reduce_scatter) == 2 * (8 * block + ends));
  CHECK(moved(scenario, OpKind::forward, CollectiveKind::reduce_scatter) == 0);
}

TEST_CASE("parameters that stay gathered after the forward pass are not gathered again") {
  Scenario scenario = sharded();
  scenario.run.sharding.reshard_after_forward = false;
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::all_gather) == 0);
}

TEST_CASE("ZeRO++ gathers int8 with a scale of two bytes for each 2048 numbers, again among neighbours") {
  Scenario scenario = sharded();
  scenario.run.sharding.int8_gather = true;
  scenario.run.sharding.secondary = 2;
  CHECK(moved(scenario, OpKind::forward, CollectiveKind::all_gather) == Approx((8 * block + ends) * (1 + 2.0 / 2048)));
  const Bodies bodies = make_bodies(make_plan(scenario));
  int near = 0;
  for (const BodyPart& part : body_of(bodies, 0, OpKind::backward).parts) {
    for (const Segment& segment : part.segments) {
      if (segment.is_collective && segment.collective.group == Axis::secondary) near += part.repeat;
    }
  }
  CHECK(near == 8);
}

TEST_CASE("ZeRO++ reduces gradients by an all-to-all of int4") {
  Scenario scenario = sharded();
  scenario.run.sharding.int4_reduce = true;
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::all_to_all) ==
        Approx((8 * block + ends) * (0.5 + 2.0 / 2048)));
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::reduce_scatter) == 0);
}

TEST_CASE("gradients that add up until the last micro-batch are not reduced in the backward pass but once per step") {
  Scenario scenario = sharded();
  scenario.run.sharding.reduce_each_micro_batch = false;
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::reduce_scatter) == 0);
  CHECK(moved(scenario, OpKind::backward, CollectiveKind::all_gather) == 2 * 8 * block);
  CHECK(lowering_policy(make_plan(scenario)).reduce_grad);
  scenario.run.sharding.reduce_each_micro_batch = true;
  CHECK_FALSE(lowering_policy(make_plan(scenario)).reduce_grad);
}

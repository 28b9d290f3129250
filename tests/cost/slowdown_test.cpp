// How much longer kernels take beside a collective that holds multiprocessors.
#include "cost/slowdown.hpp"

#include <catch2/catch.hpp>

#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

CostModel model_that_keeps(double share) {
  Calibration calibration = ideal_calibration();
  calibration.constants["gemm_beside_collective"].value = share;
  for (auto& [name, law] : calibration.collectives) law.bus_GBps.value = 1e4;  // all of them find room to hide
  const Scenario scenario = small_scenario();
  return make_cost_model(make_plan(scenario), build_topology(scenario.cluster), calibration);
}

OverlapSpec holding(double share) {
  OverlapSpec overlap;
  overlap.slowdown = share;
  return overlap;
}

Segment of_kind(KernelKind kind) {
  Segment segment;
  segment.kernel.kind = kind;
  return segment;
}

/// What the exposed collectives of a backward pass take; those that hide do so behind products.
double collectives(double share, double held) {
  Scenario scenario = small_scenario();
  scenario.run.overlap.tensor = true;
  scenario.run.overlap.slowdown = held;
  const Plan plan = make_plan(scenario);
  const Bodies bodies = make_bodies(plan);
  const BodyId id = bodies.of_stage[0][static_cast<std::size_t>(OpKind::backward)];
  return time_bodies(model_that_keeps(share), bodies, plan)[id.index()].collectives.value;
}

}  // namespace

TEST_CASE("a collective takes its share from every kernel, and as much of products as their kernels lose") {
  const Slowdown half = slowdown_beside(model_that_keeps(0.5), holding(0.2));
  CHECK(half.others == 0.2);
  CHECK(half.gemm == Approx(1));  // twice as long
  CHECK(slowdown_of(of_kind(KernelKind::gemm).kernel, half) == half.gemm);
  CHECK(slowdown_of(of_kind(KernelKind::attention).kernel, half) == half.others);
  CHECK(slowdown_of(of_kind(KernelKind::memory).kernel, half) == half.others);
  CHECK(slowdown_beside(model_that_keeps(1), holding(0.2)).gemm == 0.2);
  CHECK(slowdown_beside(model_that_keeps(0.95), holding(0.2)).gemm == 0.2);  // never less than the share itself
  CHECK(slowdown_beside(model_that_keeps(0.5), holding(0)).gemm == 0);       // it holds nothing
}

TEST_CASE("how sure products' speed beside a collective is, is how sure the time is that they lose") {
  // Of a second of the collective they lose (1 - 0.5), and 0.5 is known within 30 %.
  CostModel model = model_that_keeps(0.5);
  model.law.gemm_beside.error = 0.3;
  model.law.gemm_beside.evidence = Evidence::borrowed;
  CHECK(slowdown_beside(model, holding(0.2)).gemm_doubt == Approx(0.15));
  CHECK(slowdown_beside(model, holding(0.2)).evidence == Evidence::borrowed);
  CHECK(slowdown_beside(model, holding(2)).gemm_doubt == 0);  // the multiprocessors that are held decide
  Scenario scenario = small_scenario();
  scenario.run.overlap.tensor = true;
  scenario.run.overlap.slowdown = 0.1;
  const Plan plan = make_plan(scenario);
  const Bodies bodies = make_bodies(plan);
  const std::size_t backward = bodies.of_stage[0][static_cast<std::size_t>(OpKind::backward)].index();
  const TimeEstimate sure = time_bodies(model_that_keeps(0.5), bodies, plan)[backward].total;
  const TimeEstimate unsure = time_bodies(model, bodies, plan)[backward].total;
  CHECK(unsure.expected.value == sure.expected.value);
  CHECK(unsure.high.value > sure.high.value);
  CHECK(unsure.low.value < sure.low.value);
}

TEST_CASE("a body is slowed by what its kernels lose, weighted by their times") {
  Body body;
  body.parts.push_back({{of_kind(KernelKind::gemm), of_kind(KernelKind::memory)}, 2});
  body.parts.push_back({{of_kind(KernelKind::memory)}, 1});
  BodyTime time;
  time.segments = {{{{3.0}, false}, {{1.0}, false}}, {{{2.0}, false}}};
  // Six of ten seconds are products.
  CHECK(mean_slowdown(body, time, {1, 0.2}) == Approx(0.6 * 1 + 0.4 * 0.2));
  CHECK(mean_slowdown({}, {}, {1, 0.2}) == 0.2);
}

TEST_CASE("what hides behind products that run at half their speed costs half its time") {
  const double behind = collectives(1, 0), slowed = collectives(0.5, 0.1), shared = collectives(1, 0.1);
  CHECK(behind < shared);
  CHECK(shared < slowed);
  CHECK(collectives(0.5, 0) == behind);
  // The hidden part h of a collective costs s / (1 + s) h: a half against an eleventh.
  CHECK((slowed - behind) / (shared - behind) == Approx(0.5 * 11));
}

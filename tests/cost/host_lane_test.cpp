#include "cost/host_lane.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "cost/straggler.hpp"
#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double us = 1e-6;

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

LaneStep kernel(double gpu_us, double host_us, std::int32_t launches = 1) {
  return {gpu_us * us, host_us * us, false, launches};
}

LaneStep wait(double us_until_on) {
  return {us_until_on * us, 0, true, 1};
}

double optimizer_s(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  const CostModel model = make_cost_model(plan, build_topology(scenario.cluster), shipped("a100-hdr"));
  const Bodies bodies = make_bodies(plan);
  const BodyId id = bodies.of_stage[0][static_cast<std::size_t>(OpKind::optimizer_step)];
  return time_bodies(model, bodies, plan)[id.index()].total.expected.value;
}

}  // namespace

TEST_CASE("without a wait the lanes leave no gaps of their own") {
  CHECK(gaps_between_launches(std::vector{kernel(5, 8), kernel(50, 8)}).empty());
}

TEST_CASE("behind a wait the GPU idles until the first kernel has been launched") {
  // 0: the host goes on. 8: A runs until 58. 16: B is queued and runs until 108, when the next wait begins.
  const std::vector<double> gaps = gaps_between_launches(std::vector{wait(2), kernel(50, 8), kernel(50, 8)});
  CHECK(gaps[0] == 0);
  CHECK(gaps[1] == Approx(8 * us));
  CHECK(gaps[2] == Approx(0).margin(1e-12));
}

TEST_CASE("kernels shorter than a launch leave a gap each, whatever came before the wait") {
  // Launched at 8, 16 and 24, 3 long each: 8 + 5 + 5 of nothing.
  const std::vector<double> gaps =
      gaps_between_launches(std::vector{kernel(3, 8), kernel(3, 8), wait(0), kernel(3, 8)});
  CHECK(sum(gaps) == Approx((8 + 5 + 5) * us));
}

TEST_CASE("a chain of kernels runs at the pace of its launches") {
  // Four launches of 8 us, 1 us of work each: the last is launched at 32 and done at 33.
  const std::vector<double> gaps = gaps_between_launches(std::vector{wait(0), kernel(4, 32, 4)});
  CHECK(gaps[1] == Approx((33 - 4) * us));
}

TEST_CASE("a host that is behind makes the GPU wait in front of the wait, too") {
  // The work takes 1 us, launching what follows takes 20 us more before the host comes to wait.
  const std::vector<double> gaps = gaps_between_launches(std::vector{wait(0), kernel(1, 1), {0, 20 * us, false, 1}});
  CHECK(sum(gaps) == Approx(20 * us));
}

TEST_CASE("collections of all ranks at once fall in every n-th step, others pile up") {
  HostSpec host;
  CHECK(expected_collections(host, 8, 4) == 0);
  host.collection_pause_s = 0.1;
  host.collection_every = 20;
  host.collects_together = true;
  CHECK(expected_collections(host, 8, 4) == Approx(1.0 / 20));
  host.collects_together = false;
  CHECK(expected_collections(host, 1, 4) == Approx(4.0 / 20));  // the mean of one Poisson number
  // Of two replicas, P(maximum > k) = 1 - F(k)^2 with F of mean 1: 1 - 0.3679^2, 1 - 0.7358^2, 1 - 0.9197^2, ...
  host.collection_every = 1;
  double expected = 0, below = 0, term = std::exp(-1.0);
  for (int k = 0; k < 40; ++k) {
    if (k > 0) term /= k;
    below += term;
    expected += 1 - below * below;
  }
  CHECK(expected_collections(host, 2, 1) == Approx(expected));
  CHECK(expected_collections(host, 1e5, 1) > 5);
  // Many of them are normal, and as quickly told.
  CHECK(expected_collections(host, 64, 1001) == Approx(expected_collections(host, 64, 999)).epsilon(0.02));
  host.collection_every = 0.001;
  CHECK(expected_collections(host, 1e6, 1e6) > 1e9);
}

TEST_CASE("a pause is felt where the queue of launches runs dry, and not with CUDA graphs") {
  Scenario scenario = small_scenario();
  const double usual = optimizer_s(scenario);
  scenario.run.host.collection_pause_s = 10;  // longer than 1024 of these kernels
  scenario.run.host.collects_together = true;
  const double paused = optimizer_s(scenario) - usual;
  CHECK(paused > 9);
  CHECK(paused <= 10);
  scenario.run.host.collection_pause_s = 1e-3;  // shorter
  CHECK(optimizer_s(scenario) - usual <= 1e-3);
  scenario.run.cuda_graphs = true;
  const double graphs = optimizer_s(scenario);
  scenario.run.host.collection_pause_s = 0;
  CHECK(optimizer_s(scenario) == Approx(graphs));
}

TEST_CASE("waiting in every attention costs the launches that were hidden behind kernels before") {
  Scenario scenario = small_scenario();
  scenario.run.parallel.tensor = 1;
  scenario.run.parallel.data = 16;
  scenario.run.batch = {64, 4};
  const auto forward = [&] {
    const Plan plan = make_plan(scenario);
    const CostModel model = make_cost_model(plan, build_topology(scenario.cluster), shipped("a100-hdr"));
    const Bodies bodies = make_bodies(plan);
    const BodyId id = bodies.of_stage[0][static_cast<std::size_t>(OpKind::forward)];
    return time_bodies(model, bodies, plan)[id.index()];
  };
  const BodyTime ahead = forward();
  scenario.run.host.attention_waits = true;
  const BodyTime waiting = forward();
  CHECK(ahead.launch_wait.value == 0);
  const double launch = constant(shipped("a100-hdr"), "host_launch_us").value * us;
  CHECK(waiting.launch_wait.value >= Approx(4 * launch));  // one gap in each of four blocks
  CHECK(waiting.total.expected.value ==
        Approx(ahead.total.expected.value + waiting.launch_wait.value + 4 * launch).epsilon(1e-3));
}

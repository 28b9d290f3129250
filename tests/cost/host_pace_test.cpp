// Bodies whose kernels wait for the host to launch them: what hides behind them, and what that is worth.
#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <random>

#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

struct Timed {
  BodyTime time;
  double launches = 0;  // of the host: each kernel's, and one per collective
};

Timed backward(const Scenario& scenario, const Calibration& calibration) {
  const Plan plan = make_plan(scenario);
  const CostModel model = make_cost_model(plan, build_topology(scenario.cluster), calibration);
  const Bodies bodies = make_bodies(plan);
  const std::size_t id = bodies.of_stage[0][static_cast<std::size_t>(OpKind::backward)].index();
  Timed timed;
  timed.time = time_bodies(model, bodies, plan)[id];
  for (const BodyPart& part : bodies.bodies[id].parts) {
    for (const Segment& segment : part.segments) {
      timed.launches += (segment.is_collective ? 1 : segment.kernel.launches) * part.repeat;
    }
  }
  return timed;
}

Scenario hiding(const Scenario& scenario, bool hides) {
  Scenario changed = scenario;
  OverlapSpec& overlap = changed.run.overlap;
  overlap.tensor = overlap.context = overlap.gradient_reduce = overlap.parameter_gather = hides;
  return changed;
}

double seconds(const Scenario& scenario, bool hides, const Calibration& calibration) {
  return backward(hiding(scenario, hides), calibration).time.total.expected.value;
}

}  // namespace

TEST_CASE("a body takes as long as the host launches, if the GPU needs less, whether collectives hide or not") {
  const Scenario scenario = small_scenario();
  Calibration calibration = ideal_calibration();
  const Timed apart = backward(hiding(scenario, false), calibration),
              hides = backward(hiding(scenario, true), calibration);
  REQUIRE(hides.time.collectives.value > 0);  // some of them stick out
  REQUIRE(hides.time.collectives < apart.time.collectives);
  const double gpu_apart = apart.time.total.expected.value, gpu_hides = hides.time.total.expected.value;
  // Slower than the GPU either way, between the two, faster than both.
  for (const double host_s : {3 * gpu_apart, 1.2 * gpu_apart, 1.01 * gpu_apart}) {
    calibration.constants["host_launch_us"].value = 1e6 * host_s / apart.launches;
    CHECK(seconds(scenario, false, calibration) == Approx(host_s));
    CHECK(seconds(scenario, true, calibration) == Approx(host_s));
  }
  const double between_s = (gpu_apart + gpu_hides) / 2;
  calibration.constants["host_launch_us"].value = 1e6 * between_s / apart.launches;
  CHECK(seconds(scenario, false, calibration) == Approx(gpu_apart));
  CHECK(seconds(scenario, true, calibration) == Approx(between_s));
  calibration.constants["host_launch_us"].value = 1e6 * 0.9 * gpu_hides / apart.launches;
  CHECK(seconds(scenario, true, calibration) == Approx(gpu_hides));
}

TEST_CASE("nothing that hides makes a body longer than it is apart, whatever the host, the ranks and the slowdown") {
  std::mt19937 random(7);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random));
  };
  const auto sometimes = [&] { return one_of({0, 1}) == 1; };
  int paced = 0;
  for (int i = 0; i < 300; ++i) {
    Scenario scenario = small_scenario();
    RunSpec& run = scenario.run;
    run.parallel.tensor = one_of({2, 4, 8});
    run.parallel.context = one_of({1, 2});
    run.parallel.data = 16 / run.parallel.tensor / run.parallel.context;
    run.parallel.sequence_parallel = sometimes();
    run.attention_kernel = sometimes() ? AttentionKernel::flash_2 : AttentionKernel::fused_softmax;
    run.batch = {8, 1};
    run.zero_stage = one_of({0, 3});
    if (run.zero_stage == 3) run.sharding.unit = ShardUnit::block;
    run.overlap.slowdown = sometimes() ? between(0, 1) : 0;
    if (sometimes()) run.host.attention_waits = true;
    Calibration calibration = ideal_calibration();
    calibration.constants["rank_spread"].value = sometimes() ? 0.05 : 0;
    calibration.constants["block_spread"].value = sometimes() ? 0.05 : 0;
    calibration.constants["gemm_beside_collective"].value = between(0.4, 1);
    calibration.constants["host_launch_us"].value = std::exp(between(std::log(0.1), std::log(2000)));
    const double apart = seconds(scenario, false, calibration), hides = seconds(scenario, true, calibration);
    const Timed timed = backward(hiding(scenario, true), calibration);
    if (timed.time.launch_wait.value > 0) ++paced;
    INFO("host launch " << calibration.constants["host_launch_us"].value << " us, slowdown " << run.overlap.slowdown
                        << ", ZeRO " << run.zero_stage << ", TP " << run.parallel.tensor);
    CHECK(hides <= apart * (1 + 1e-9));
  }
  CHECK(paced > 100);
}

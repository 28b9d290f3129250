// Time, price and energy of a training run, by hand.
#include "estimate/training_run.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace stagecraft;

TEST_CASE("without failures a run is its steps") {
  TrainingSpec spec;
  spec.tokens = 1e9;
  spec.price_per_gpu_hour = 2;
  // 1e9 / 4e6 = 250 steps of 18 s on 8 GPUs: 4500 s, 10 GPU-hours.
  const TrainingRun run = training_run(spec, {18, 4e6, 8, 0.5, 0});
  CHECK(run.steps == 250);
  CHECK(run.goodput == 1);
  CHECK(run.time_s == 4500);
  CHECK(run.gpu_hours == 10);
  CHECK(run.cost == 20);
  CHECK(run.cost_per_million_tokens == Approx(20.0 / 1000));
}

TEST_CASE("evaluations and small first batches take their time") {
  TrainingSpec spec;
  spec.tokens = 1e9;
  spec.evaluation_s = 100;
  spec.evaluation_steps = 50;  // two seconds for each step
  CHECK(training_run(spec, {18, 4e6, 8, 0.5, 500}).time_s == Approx(250 * 20 + 500));
}

TEST_CASE("a checkpoint that nothing ever needs costs its own time") {
  CHECK(goodput(0, 1800, 200, 600) == Approx(0.9));
}

TEST_CASE("goodput with rare failures is what first-order reasoning says") {
  // Once a day; 20 s for each half hour, half a stretch lost and 600 s of restart per failure.
  const double rate = 1.0 / 86400;
  const double first_order = 1 - 20.0 / 1820 - rate * (1820.0 / 2 + 600);
  CHECK(goodput(rate, 1800, 20, 600) == Approx(first_order).margin(5e-4));
}

TEST_CASE("the best interval is near the square root of two checkpoints over the rate") {
  TrainingSpec spec;
  spec.failures = {50000, 0, 600, 30, 0};
  // 1000 GPUs: a failure every 50 h. Young (Communications of the ACM 17, 1974): sqrt(2 x 30 x 180000) = 3286 s.
  const TrainingRun run = training_run(spec, {18, 4e6, 1000, 0.5, 0});
  CHECK(run.failures_per_day == Approx(24.0 / 50));
  CHECK(run.checkpoint_interval_s == Approx(std::sqrt(2 * 30 * 180000.0)).epsilon(0.02));
  const double best = run.goodput;
  for (const double interval : {1000.0, 3000.0, 3600.0, 9000.0}) {
    CHECK(goodput(1.0 / 180000, interval, 30, 600) <= best);
  }
}

TEST_CASE("spot machines taken away add to the failures") {
  TrainingSpec spec;
  spec.failures = {50000, 1.5, 600, 30, 1800};
  const TrainingRun run = training_run(spec, {18, 4e6, 1000, 0.5, 0});
  CHECK(run.failures_per_day == Approx(24.0 / 50 + 1.5));
  CHECK(run.checkpoint_interval_s == 1800);
}

TEST_CASE("power lies straight between the points of its curve") {
  const std::vector<PowerPoint> curve{{0.2, 100}, {0.6, 500}, {1, 600}};
  CHECK(watts_at(curve, 0) == 100);
  CHECK(watts_at(curve, 0.4) == Approx(300));
  CHECK(watts_at(curve, 0.8) == Approx(550));
  CHECK(watts_at(curve, 1) == 600);
  CHECK(watts_at({}, 0.5) == 0);
}

TEST_CASE("energy is watts times GPU-hours times the building's share") {
  TrainingSpec spec;
  spec.tokens = 1e9;
  spec.power = {{0, 200}, {1, 600}};
  spec.power_usage_effectiveness = 1.25;
  // 400 W at half the time, 500 W with the building; 10 GPU-hours.
  const TrainingRun run = training_run(spec, {18, 4e6, 8, 0.5, 0});
  CHECK(run.energy_kwh == Approx(5));
  CHECK(run.joules_per_token == Approx(8 * 500 * 18 / 4e6));
}

TEST_CASE("a run whose failures come faster than its checkpoints stays a number") {
  TrainingSpec spec;
  spec.tokens = 1e12;
  spec.failures.gpu_hours = 5;
  spec.failures.checkpoint_s = 6000;
  const TrainingRun run = training_run(spec, {1, 1e6, 4096, 0.5, 0});
  CHECK(run.goodput > 0);
  CHECK(run.goodput < 1e-3);
  for (const double figure : {run.time_s, run.gpu_hours, run.cost, run.energy_kwh, run.joules_per_token}) {
    CHECK(std::isfinite(figure));
  }
}

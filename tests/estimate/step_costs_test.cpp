// The named lines of a step, by hand.
#include "estimate/step_costs.hpp"

#include <catch2/catch.hpp>

#include "../sim/sample_job.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

StepCosts costs_of(const Scenario& sample, const Calibration& calibration) {
  const Job job = job_of(sample, "1f1b", calibration);
  return step_costs(job.plan, job.schedule, job.model, job.topology);
}

}  // namespace

TEST_CASE("loading and host work stand in lines of their own, once per step") {
  Calibration calibration = ideal_calibration();
  calibration.constants["host_step_ms"] = exactly(7);
  Scenario sample = scenario(1, 2, 1, 1);
  sample.run.data_loading_s = 0.25;
  const StepCosts costs = costs_of(sample, calibration);
  CHECK(costs.host_s == Approx(0.007));
  CHECK(costs.data_loading_s == Approx(0.25));
  CHECK(costs.slowest_rank_s == 0);
  CHECK(costs.kernel_launches_s == 0);
}

TEST_CASE("clipping reads fp32 gradients twice and writes them once, at the memory's rate") {
  const Scenario sample = scenario(1, 1, 1, 1);
  const Job job = job_of(sample, "1f1b");
  const StepCosts costs = step_costs(job.plan, job.schedule, job.model, job.topology);
  const double parameters =
      parameters_of(job.plan.model) + static_cast<double>(padded_vocabulary(job.plan) - job.plan.model.vocabulary) *
                                          static_cast<double>(job.plan.model.hidden);
  CHECK(costs.gradient_clipping_s == Approx(parameters * 12 / job.plan.gpu.memory_bandwidth.value).epsilon(1e-3));
  // Zeroed (4), gradient (4), master weight and two moments read and written (24), copied to 16 bits (4 + 2).
  CHECK(costs.optimizer_s == Approx(parameters * 38 / job.plan.gpu.memory_bandwidth.value).epsilon(1e-3));
}

TEST_CASE("where the host is slower than the GPU, the difference is waiting for launches") {
  Calibration calibration = ideal_calibration();
  const Scenario sample = scenario(1, 1, 1, 1, 2);
  const Job fast = job_of(sample, "1f1b", calibration);
  calibration.constants["host_launch_us"] = exactly(1000);
  const Job slow = job_of(sample, "1f1b", calibration);
  const auto kernels = [](const Job& job) {
    double sum = 0;
    const std::vector<BodyTime> times = time_bodies(job.model, job.schedule, job.plan);
    for (const Op& op : job.schedule.programs.front()) {
      if (op.body.valid()) sum += times[op.body.index()].total.expected.value;
    }
    return sum;
  };
  const StepCosts costs = step_costs(slow.plan, slow.schedule, slow.model, slow.topology);
  CHECK(costs.kernel_launches_s > 0);
  CHECK(costs.kernel_launches_s == Approx(kernels(slow) - kernels(fast)));
}

TEST_CASE("ranks of unlike speed wait as the expected maximum says") {
  Calibration calibration = ideal_calibration();
  const Scenario sample = scenario(1, 1, 8, 1);
  const double even = costs_of(sample, calibration).slowest_rank_s;
  calibration.constants["rank_spread"] = exactly(0.02);
  CHECK(even == 0);
  CHECK(costs_of(sample, calibration).slowest_rank_s > 0);
}

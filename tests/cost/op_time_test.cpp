// Reductions of gradients: between which ranks, of how many bytes, behind what.

#include <catch2/catch.hpp>
#include <cmath>

#include "../sim/sample_job.hpp"
#include "spec/usual_choices.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

/// Of the first reduction of the first rank.
CollectiveTime reduction(const Job& job) {
  for (const Op& op : job.schedule.programs[0]) {
    if (op.kind == OpKind::reduce_grad)
      return time_of(job.model, job.schedule, job.plan, job.topology, PipelineRank(0), op);
  }
  return {};
}

}  // namespace

TEST_CASE("two copies of a stage are reduced over what lies between their ranks, also without replicas") {
  const auto seconds = [](std::int64_t nodes, double nic_GBps) {
    Scenario sample = scenario(8, 4, 1, nodes);
    sample.cluster.fabric = fabric(FabricKind::single_switch);
    sample.cluster.fabric.nic_nominal = sample.cluster.fabric.nic_achieved = BytesPerSecond{nic_GBps * 1e9};
    sample.run.batch = {16, 1};
    return reduction(job_of(sample, "dualpipe")).shared.value;
  };
  const double fast = seconds(4, 20), slow = seconds(4, 2);
  CHECK(std::isfinite(fast));
  CHECK(fast > 0);
  CHECK(slow == Approx(10 * fast).epsilon(0.01));  // stage 0 and its copy lie on the first and the last node
}

TEST_CASE("turning gradients into a format of their own size costs nothing") {
  Scenario sample = scenario(1, 1, 8, 1);
  const auto seconds = [&] { return reduction(job_of(sample, "1f1b")).shared.value; };
  sample.run.fp32_gradients = true;
  sample.run.precision = Precision::bf16_mixed;
  const double as_they_are = seconds();
  sample.run.gradient_compression = GradientCompression::fp32;
  CHECK(seconds() == as_they_are);
  sample.run.fp32_gradients = false;
  sample.run.recipe = StateRecipe::mixed_16bit_gradients;
  CHECK(seconds() > as_they_are);  // as many bytes on the wires, and the conversion
}

TEST_CASE("only under ZeRO 1 may a framework all-reduce what it keeps a share of") {
  for (const std::int64_t stage : {1, 2, 3}) {
    Scenario sample = scenario(1, 2, 4, 1);
    sample.run.zero_stage = stage;
    sample.run.sharding.unit = ShardUnit::stage;
    const double scattered = reduction(job_of(sample, "1f1b")).shared.value;
    sample.run.sharding.reduce_scatter = false;
    const double whole = reduction(job_of(sample, "1f1b")).shared.value;
    CHECK(whole / scattered == Approx(stage == 1 ? 2 : 1));
  }
}

TEST_CASE("a reduction does not hide behind what a pass itself sends through the NICs") {
  Scenario sample = scenario(1, 1, 1, 4);
  sample.cluster.fabric = fabric(FabricKind::single_switch);
  sample.run.parallel.context = 32;
  sample.run.overlap.context = false;
  sample.run.batch = {1, 1};
  sample.run.gradient_bucket_bytes = 1e6;
  const double whole = reduction(job_of(sample, "1f1b")).shared.value;
  sample.run.overlap.gradient_reduce = true;
  const Job job = job_of(sample, "1f1b");
  double kernels = 0;
  for (const Op& op : job.schedule.programs[0]) {
    if (op.kind == OpKind::backward)
      kernels = time_bodies(job.model, job.schedule, job.plan)[op.body.index()].kernels.value;
  }
  REQUIRE(kernels > 0);
  REQUIRE(whole > 2 * kernels);
  CHECK(whole - reduction(job).shared.value <= kernels);
}

TEST_CASE("an exchange of experts holds multiprocessors only where experts are spread") {
  GpuSpec gpu;
  gpu.sms = 132;
  RunSpec run;
  run.overlap.expert = true;
  run.parallel.expert = 8;
  CHECK(usual_slowdown(run, gpu) == Approx(24.0 / 108));
  run.parallel.expert = 1;
  CHECK(usual_slowdown(run, gpu) == 0);
}

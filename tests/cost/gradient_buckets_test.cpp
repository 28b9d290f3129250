// What sticks out of a gradient reduction that hides behind the last backward.

#include <catch2/catch.hpp>

#include "../sim/sample_job.hpp"
#include "cost/cost_model.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

struct Timed {
  double reduction = 0, backward = 0, bytes = 0;
};

Timed timed(bool overlap, double bucket_bytes, const char* schedule = "1f1b", double slowdown = 0) {
  Scenario sample = scenario(1, 1, 64, 8);
  sample.cluster.fabric = fabric(FabricKind::single_switch);
  sample.run.overlap.gradient_reduce = overlap;
  sample.run.gradient_bucket_bytes = bucket_bytes;
  sample.run.overlap.slowdown = slowdown;
  const Job job = job_of(sample, schedule);
  Timed result;
  const std::vector<BodyTime> bodies = time_bodies(job.model, job.schedule, job.plan);
  for (const Op& op : job.schedule.programs[0]) {
    if (op.kind == OpKind::backward || op.kind == OpKind::weight_grad)
      result.backward = bodies[op.body.index()].total.expected.value;
    if (op.kind != OpKind::reduce_grad) continue;
    result.reduction = time_of(job.model, job.schedule, job.plan, job.topology, PipelineRank(0), op).shared.value;
    result.bytes = collective_of(job.plan, op).bytes.value;
  }
  return result;
}

}  // namespace

TEST_CASE("n buckets of time t behind a backward of time C stick out by max(t, n t - C (n-1)/n)") {
  for (const char* schedule : {"1f1b", "zb-h1"}) {
    const Timed whole = timed(false, 160e6, schedule);  // nothing is latency here: n t is the whole
    REQUIRE(whole.reduction > 0);
    for (const double n : {1.0, 2.0, 8.0, 100.0}) {
      INFO(schedule << ", " << n << " buckets");
      const Timed hidden = timed(true, whole.bytes / n * 1.0000001, schedule);
      const double expected = std::max(whole.reduction / n, whole.reduction - whole.backward * (n - 1) / n);
      CHECK(hidden.reduction == Approx(expected).epsilon(1e-6));
    }
  }
}

TEST_CASE("without overlap the size of a bucket changes nothing") {
  CHECK(timed(false, 1e6).reduction == timed(false, 1e9).reduction);
}

TEST_CASE("kernels that a collective slows by s take s / (1 + s) of the time longer that it runs beside them") {
  const Timed whole = timed(false, 160e6);
  for (const double s : {0.15, 1.0}) {
    for (const double n : {2.0, 8.0, 100.0}) {
      INFO(n << " buckets, slowdown " << s);
      const double bucket = whole.bytes / n * 1.0000001;
      const double out = std::max(whole.reduction / n, whole.reduction - whole.backward * (1 + s) * (n - 1) / n);
      const double beside = whole.reduction - out;
      CHECK(timed(true, bucket, "1f1b", s).reduction == Approx(out + beside * s / (1 + s)).epsilon(1e-6));
    }
  }
}

TEST_CASE("tensor-parallel collectives behind products slow these, too") {
  const auto backward = [](double slowdown) {
    Scenario sample = scenario(4, 1, 1, 1);
    sample.run.overlap.tensor = true;
    sample.run.overlap.slowdown = slowdown;
    const Job job = job_of(sample, "1f1b");
    double seconds = 0;
    for (const BodyTime& body : time_bodies(job.model, job.schedule, job.plan)) seconds += body.total.expected.value;
    return seconds;
  };
  CHECK(backward(0.2) > backward(0));
  CHECK(backward(0.4) > backward(0.2));
}

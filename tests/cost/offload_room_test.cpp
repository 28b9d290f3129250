// What hides beside passes that wait for the copies of their activations.

#include <algorithm>
#include <catch2/catch.hpp>

#include "../sim/sample_job.hpp"
#include "cost/cost_model.hpp"
#include "cost/pass_room.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

/// One stage of four blocks, replicated, under ZeRO 1. Links of 2 GB/s between GPUs and 1 GB/s between nodes make what
/// travels long; PCIe at 25 GB/s, of which two GPUs behind one switch get half each while both copy.
Scenario offloading(std::int64_t data, std::int64_t nodes) {
  Scenario sample = scenario(1, 1, data, nodes, 4);
  for (WireSpec& wire : sample.cluster.node.wires) {
    wire.nominal = wire.achieved = GBps(wire.kind == LinkKind::pcie ? 25 : 2);
  }
  if (nodes > 1) {
    sample.cluster.fabric = fabric(FabricKind::single_switch);
    sample.cluster.fabric.nic_nominal = sample.cluster.fabric.nic_achieved = GBps(1);
  }
  sample.run.zero_stage = 1;
  sample.run.offload.activations = Home::host;
  return sample;
}

double seconds_of(const Job& job, OpKind kind) {
  const BodyId body = job.schedule.bodies.of_stage[0][static_cast<std::size_t>(kind)];
  return time_bodies(job.model, job.schedule, job.plan)[body.index()].total.expected.value;
}

double shown(const Job& job, OpKind kind) {
  for (const Op& op : job.schedule.programs[0]) {
    if (op.kind == kind)
      return time_of(job.model, job.schedule, job.plan, job.topology, PipelineRank(0), op).shared.value;
  }
  return 0;
}

struct Hidden {
  Job job;
  double whole = 0, left = 0, buckets = 0;
};

Hidden hidden(Scenario sample, OpKind kind) {
  Hidden result;
  result.whole = shown(job_of(sample, "1f1b"), kind);
  sample.run.overlap.gradient_reduce = sample.run.overlap.parameter_gather = true;
  Op op;
  op.kind = kind;
  op.stage = Stage{0};
  result.buckets = 100;
  sample.run.gradient_bucket_bytes = collective_of(make_plan(sample), op).bytes.value / result.buckets * 1.0000001;
  result.job = job_of(sample, "1f1b");
  result.left = shown(result.job, kind);
  return result;
}

// Of a block: inputs of both norms, of qkv and of the MLP (4 h), queries, keys, values and output of attention (4 h),
// input and output of the activation (8 h), in 16 bits, for 2048 tokens of 1024 features.
constexpr double kept = 4 * 2.0 * 2048 * 1024 * (4 + 4 + 8);
constexpr double copy_s = kept / 12.5e9;

}  // namespace

TEST_CASE("gradients and parameters hide behind a pass until the copy of its activations has ended") {
  for (const auto& [kind, pass] :
       {std::pair{OpKind::reduce_grad, OpKind::backward}, std::pair{OpKind::gather_params, OpKind::forward}}) {
    const Hidden of = hidden(offloading(2, 1), kind);
    REQUIRE(copy_s > 1.5 * seconds_of(of.job, pass));
    const double n = of.buckets, expected = std::max(of.whole / n, of.whole - copy_s * (n - 1) / n);
    REQUIRE(expected > of.whole / n);
    CHECK(of.left == Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("what leaves by the wire that the copy takes has what the copy leaves of it") {
  const Hidden of = hidden(offloading(64, 8), OpKind::reduce_grad);
  const double pass_s = seconds_of(of.job, OpKind::backward), n = of.buckets;
  REQUIRE(copy_s > pass_s);
  // 12.5 of the 25 GB/s between GPU and switch are the copy's from the begin of the pass to its end.
  const double room = copy_s / 2;
  const double expected = std::max(of.whole / n, of.whole - room * (n - 1) / n);
  REQUIRE(expected > of.whole / n);
  CHECK(of.left == Approx(expected).epsilon(1e-6));
}

TEST_CASE("kernels that slow down beside a copy make no room") {
  double before = 0;
  for (const double speed : {1.0, 0.8, 0.6, 0.4}) {
    Scenario sample = offloading(64, 8);
    for (auto& [dtype, peak] : sample.cluster.gpu.peak) peak = {peak.value * speed};
    const Hidden of = hidden(sample, OpKind::reduce_grad);
    const double end_s = std::max(copy_s, seconds_of(of.job, OpKind::backward)) + of.left;
    CAPTURE(speed);
    CHECK(end_s >= before * (1 - 1e-9));
    before = end_s;
  }
}

TEST_CASE("passes whose activations stay hide what they hid before") {
  Scenario sample = offloading(2, 1);
  sample.run.offload.activations = Home::gpu;
  const Hidden of = hidden(sample, OpKind::reduce_grad);
  const double n = of.buckets, pass_s = seconds_of(of.job, OpKind::backward);
  CHECK(of.left == Approx(std::max(of.whole / n, of.whole - pass_s * (n - 1) / n)).epsilon(1e-6));
}

TEST_CASE("a pass that is slowed while it waits anyway loses nothing until its wait is used up") {
  // Beside 4 s of a collective a pass of 4 s that takes twice as long loses 2 s; a wait of 1 s takes half of that.
  const Beside slowed = fit(4, {4, 0, 1});
  CHECK(slowed.seconds == Approx(4));
  CHECK(slowed.longer_s == Approx(2));
  const Beside waits = fit(4, {4, 1, 1});
  CHECK(waits.seconds == Approx(4));
  CHECK(waits.longer_s == Approx(1));
  // 2 s of work are room for 4 s and lose 2 s of a wait of 3 s; the last second takes one more of the collective.
  const Beside both = fit(9, {2, 3, 1});
  CHECK(both.seconds == Approx(4 + 1));
  CHECK(both.longer_s == 0);
}

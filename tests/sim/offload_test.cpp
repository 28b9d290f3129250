// Copies between GPU and host in time: hidden, sticking out, contending on PCIe.

#include <algorithm>
#include <catch2/catch.hpp>

#include "estimate/estimate.hpp"
#include "estimate/estimated_trace.hpp"
#include "sample_job.hpp"
#include "sim/simulate.hpp"
#include "sim/traffic.hpp"
#include "trace/summary.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

/// Four blocks on one GPU of a DGX A100, two micro-batches of one sequence, nothing recomputed.
Scenario one_gpu(double pcie_gbps) {
  Scenario sample = scenario(1, 1, 1, 1, 4);
  for (WireSpec& wire : sample.cluster.node.wires) {
    if (wire.kind == LinkKind::pcie) wire.nominal = wire.achieved = GBps(pcie_gbps);
  }
  sample.cluster.node.nvme = {4e12};
  sample.cluster.node.nvme_read = sample.cluster.node.nvme_write = GBps(5);
  return sample;
}

double seconds_of(const Job& job, OpKind kind) {
  const BodyId body = job.schedule.bodies.of_stage[0][static_cast<std::size_t>(kind)];
  return time_bodies(job.model, job.schedule, job.plan)[body.index()].total.expected.value;
}

/// Two micro-batches through one stage.
double passes_of(const Job& job) {
  return 2 * (seconds_of(job, OpKind::forward) + seconds_of(job, OpKind::backward));
}

Trace simulated(const Job& job, std::int32_t steps = 1) {
  SimulationOptions options;
  options.steps = steps;
  return simulate(job.plan, job.schedule, job.graph, job.model, job.topology, options);
}

Estimate estimated(const Job& job, std::int32_t steps = 1) {
  return estimate(job.plan, job.schedule, job.graph, job.model, job.topology, steps);
}

double in_class(const Trace& trace, TimeClass time_class) {
  return summarise(trace).mean[static_cast<std::size_t>(time_class)];
}

double length_of(const Trace& trace, OpKind kind, std::int32_t rank = 0) {
  double most = 0;
  for (const Span& span : trace.spans) {
    if (span.kind == kind && span.rank == rank) most = std::max(most, span.end_s - span.begin_s);
  }
  return most;
}

// Of a block: input of both norms, of qkv and of the MLP (4 h), query, key, value and output of attention (4 h), input
// and output of the activation (8 h), 16 bits each, for 2048 tokens of 1024 features; four blocks.
constexpr double kept = 4 * 2.0 * 2048 * 1024 * (4 + 4 + 8);

/// Layers of 100 M parameters, two micro-batches; the optimizer steps on the host.
Scenario host_optimizer(std::int64_t pipeline, std::int64_t data) {
  Scenario sample = silent_layers(pipeline, 2);
  for (PlainLayerSpec& layer : sample.model.plain_layers) layer.parameters = 100e6;
  sample.run.parallel.data = data;
  sample.run.batch = {2 * data, 1};
  sample.run.fp32_gradients = true;
  sample.run.offload.optimizer = Home::host;
  return sample;
}

}  // namespace

TEST_CASE("activations that travel faster than the passes compute cost no time", "[sim]") {
  const Job kept_on_gpu = job_of(one_gpu(1e5), "gpipe");
  Scenario sample = one_gpu(1e5);
  sample.run.offload.activations = Home::host;
  const Job job = job_of(sample, "gpipe");
  REQUIRE(length_of(simulated(job), OpKind::offload) > 0);
  CHECK(simulated(job).end_s == Approx(simulated(kept_on_gpu).end_s).epsilon(1e-9));
  CHECK(estimated(job).step_time.value == Approx(estimated(kept_on_gpu).step_time.value).epsilon(1e-9));
  CHECK(in_class(simulated(job), TimeClass::host_copies) == Approx(0).margin(1e-12));
}

TEST_CASE("activations that travel slower than the passes compute set the pace, to the host and to drives", "[sim]") {
  for (const auto& [home, gbps] : {std::pair{Home::host, 25.0}, std::pair{Home::nvme, 5.0}}) {
    Scenario sample = one_gpu(25);
    sample.run.offload.activations = home;
    const Job job = job_of(sample, "gpipe");
    const double copy = kept / (gbps * 1e9);
    const double forward = seconds_of(job, OpKind::forward), backward = seconds_of(job, OpKind::backward);
    REQUIRE(copy > forward);
    REQUIRE(copy > backward);
    const double step = 2 * copy + 2 * copy + seconds_of(job, OpKind::optimizer_step);
    INFO(to_text(home));
    CHECK(estimated(job).step_time.value == Approx(step).epsilon(1e-9));
    CHECK(simulated(job).end_s == Approx(step).epsilon(1e-6));
    CHECK(in_class(simulated(job), TimeClass::host_copies) ==
          Approx(4 * copy - 2 * (forward + backward)).epsilon(1e-6));
    CHECK(total(summarise(simulated(job)).mean) == Approx(step).epsilon(1e-6));
  }
}

TEST_CASE("full recompute copies checkpoints alone, one per piece of blocks", "[sim]") {
  Scenario sample = one_gpu(25);
  sample.run.offload.activations = Home::host;
  sample.run.recompute = Recompute::full;
  const double input = 2.0 * 2048 * 1024;
  CHECK(copied_bytes(make_plan(sample), OpKind::offload, Stage(0)).value == 4 * input);
  sample.run.recompute_scope = RecomputeScope::groups;
  sample.run.recompute_blocks = 3;  // a piece of three blocks and one of one
  CHECK(copied_bytes(make_plan(sample), OpKind::offload, Stage(0)).value == 2 * input);
  sample.run.recompute_scope = RecomputeScope::first_blocks;
  CHECK(copied_bytes(make_plan(sample), OpKind::reload, Stage(0)).value == 3 * input + kept / 4);
}

TEST_CASE("copied is what the chosen blocks keep, and nothing that selective recompute drops", "[sim]") {
  Scenario sample = one_gpu(25);
  sample.run.offload.activations = Home::host;
  const auto copied = [&] { return copied_bytes(make_plan(sample), OpKind::offload, Stage(0)).value; };
  sample.run.offload.activation_blocks = 1;  // of four
  CHECK(copied() == kept / 4);
  sample.run.offload.activation_blocks = 9;
  CHECK(copied() == kept);
  sample.run.recompute = Recompute::selective;
  sample.run.recompute_modules = {.core_attention = false, .norms = true};
  CHECK(copied() == kept - 4 * 2 * 2.0 * 2048 * 1024);  // outputs of both norms of each block
}

TEST_CASE("two GPUs behind one PCIe switch get half of its rate each, one alone all of it", "[sim]") {
  Scenario sample = one_gpu(25);
  sample.run.offload.activations = Home::host;
  const Job alone = job_of(sample, "gpipe");
  CHECK(length_of(simulated(alone), OpKind::offload) == Approx(kept / 25e9).epsilon(1e-6));
  sample.run.parallel.data = 2;  // GPUs 0 and 1
  sample.run.batch = {4, 1};
  const Job both = job_of(sample, "gpipe");
  CHECK(length_of(simulated(both), OpKind::offload) == Approx(kept / 12.5e9).epsilon(1e-6));
  CHECK(both.model.host.alone.value == 25e9);
  CHECK(both.model.host.shared.value == 12.5e9);
}

TEST_CASE("stages whose GPUs share a PCIe switch meet there only while both copy", "[sim]") {
  // Two stages of one rank each, on GPUs 0 and 1, which send nothing: rank 1 begins when rank 0 has ended its first
  // pass. Host optimizers copy together at the end.
  const Job job = job_of(host_optimizer(2, 1), "gpipe");
  const Trace trace = simulated(job);
  // 400 MB of gradients take 16 ms alone. Rank 0 ends its last backward pass one backward after rank 1; from then on
  // both copy at half the rate until rank 1 has sent the rest, and rank 0 has the time of that backward left to send.
  const double alone = 100e6 * 4 / 25e9, backward = seconds_of(job, OpKind::backward);
  CHECK(length_of(trace, OpKind::offload_grad, 1) == Approx(backward + 2 * (alone - backward)).epsilon(1e-6));
  CHECK(length_of(trace, OpKind::offload_grad, 0) == Approx(2 * (alone - backward) + backward).epsilon(1e-6));
}

TEST_CASE("a host copy crosses the links that the GPU's messages cross on their way to the NIC", "[sim]") {
  Scenario sample = scenario(8, 2, 1, 2);
  sample.run.offload.activations = Home::host;
  const Job job = job_of(sample, "gpipe");
  const auto links = [&](TrafficKind kind) {
    for (const TrafficClass& traffic : traffic_classes(job.plan, job.schedule, true)) {
      if (traffic.kind == kind && traffic.from == PipelineRank(0))
        return traffic_of(traffic, job.plan, job.topology).uses;
    }
    return std::vector<LinkUse>{};
  };
  std::size_t common = 0;
  for (const LinkUse& up : links(TrafficKind::to_host)) {
    for (const LinkUse& sent : links(TrafficKind::send)) common += up.link == sent.link ? 1U : 0U;
  }
  CHECK(common == 8);                                    // GPU to PCIe switch, of each GPU
  CHECK(links(TrafficKind::to_host).size() == 8 + 4);    // and four switches to their CPU
  CHECK(links(TrafficKind::from_host).size() == 8 + 4);  // the other directions
  for (const LinkUse& up : links(TrafficKind::to_host)) {
    for (const LinkUse& down : links(TrafficKind::from_host)) CHECK(up.link != down.link);
  }
}

TEST_CASE("the optimizer on the host: gradients down, Adam, parameters up", "[sim]") {
  const Job job = job_of(host_optimizer(1, 1), "gpipe");
  // Two passes each way; 400 MB at 25 GB/s; 0.25 ns per parameter; 200 MB at 25 GB/s.
  const double step = passes_of(job) + 16e-3 + 25e-3 + 8e-3;
  CHECK(steps_until_steady(job.schedule) == 2);
  CHECK(estimated(job).step_time.value == Approx(step).epsilon(1e-9));
  CHECK(estimated(job, 2).step_time.value == Approx(step).epsilon(1e-9));  // one stage: nothing hides the parameters
  CHECK(simulated(job, 2).step_end_s[1] == Approx(2 * step).epsilon(1e-6));
  CHECK(in_class(simulated(job), TimeClass::host_copies) == Approx(24e-3).epsilon(1e-6));
  CHECK(in_class(simulated(job), TimeClass::optimizer) == Approx(25e-3).epsilon(1e-6));
}

TEST_CASE("with ZeRO each rank copies its share", "[sim]") {
  Scenario sample = host_optimizer(1, 2);
  sample.run.zero_stage = 1;
  const Job job = job_of(sample, "gpipe");
  const Trace trace = simulated(job);
  // Half of the parameters over half of the switch's rate.
  CHECK(length_of(trace, OpKind::offload_grad) == Approx(16e-3).epsilon(1e-6));
  CHECK(length_of(trace, OpKind::reload_param) == Approx(8e-3).epsilon(1e-6));
  CHECK(estimated(job).steps[0].makespan_s == Approx(trace.end_s).epsilon(1e-6));
}

TEST_CASE("optimizer states on drives come and go around the host's Adam", "[sim]") {
  Scenario sample = host_optimizer(1, 1);
  sample.cluster.node.nvme = {4e12};
  sample.cluster.node.nvme_read = sample.cluster.node.nvme_write = GBps(6);
  const double on_host = estimated(job_of(sample, "gpipe")).step_time.value;
  sample.run.offload.optimizer = Home::nvme;
  const Job job = job_of(sample, "gpipe");
  // Master weights and two moments of four bytes each, in and out, at 6 GB/s.
  CHECK(estimated(job).step_time.value - on_host == Approx(100e6 * 2 * 12 / 6e9).epsilon(1e-9));
  CHECK(in_class(to_trace(estimated(job), job.plan, job.schedule, job.graph, job.topology), TimeClass::host_copies) ==
        Approx(24e-3 + 100e6 * 2 * 12 / 6e9).epsilon(1e-9));
}

TEST_CASE("parameters on the host come for each gather of a stage, even for one rank", "[sim]") {
  Scenario sample = host_optimizer(1, 1);
  sample.run.zero_stage = 3;
  sample.run.offload.parameters = Home::host;
  const Job job = job_of(sample, "gpipe");
  // Fetched once a step, before anything computes; nothing goes up behind the step.
  const double step = 8e-3 + passes_of(job) + 16e-3 + 25e-3;
  CHECK(simulated(job).end_s == Approx(step).epsilon(1e-6));
  CHECK(simulated(job, 2).step_end_s[1] == Approx(2 * step).epsilon(1e-6));
}

TEST_CASE("parameters of blocks on the host travel with each block's gather", "[sim]") {
  Scenario sample = one_gpu(25);
  sample.run.zero_stage = 3;
  sample.run.sharding.unit = ShardUnit::block;
  const Job on_gpu = job_of(sample, "gpipe");
  sample.run.offload.parameters = Home::host;
  const Job job = job_of(sample, "gpipe");
  const std::vector<BodyTime> times = time_bodies(job.model, job.schedule, job.plan);
  const auto exposed = [&](OpKind kind) {
    return times[job.schedule.bodies.of_stage[0][static_cast<std::size_t>(kind)].index()].exposed.copies.value;
  };
  // Of 4 blocks the first one's copy is exposed; so are those of embedding and head, which stand before all blocks.
  const double block = parameters_of(job.plan.model, {LayerKind::block, 0}) * 2 / 25e9;
  CHECK(exposed(OpKind::forward) >= block);
  CHECK(exposed(OpKind::backward) >= block);
  CHECK(seconds_of(job, OpKind::forward) - exposed(OpKind::forward) == Approx(seconds_of(on_gpu, OpKind::forward)));
}

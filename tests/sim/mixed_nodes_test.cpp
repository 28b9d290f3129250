// Steps on nodes of two kinds: the second half of the GPUs computes twice as fast.
#include <catch2/catch.hpp>

#include "cost/rank_costs.hpp"
#include "estimate/balance.hpp"
#include "estimate/estimate.hpp"
#include "memory/timeline.hpp"
#include "sample_job.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

Calibration of_two_kinds() {
  Calibration calibration = ideal_calibration();
  calibration.other_kinds = {ideal_calibration()};
  return calibration;
}

/// As many faster nodes as the cluster has nodes already, or as given.
Scenario with_faster(Scenario sample, std::int64_t faster) {
  OtherNodes kind;
  kind.count = faster;
  kind.cluster = "faster";
  kind.gpu = sample.cluster.gpu;
  kind.gpu.name = "twice";
  for (auto& [dtype, rate] : kind.gpu.peak) rate = rate * 2;
  kind.gpu.memory = kind.gpu.memory_usable = {40e9};
  kind.node = sample.cluster.node;
  sample.cluster.nodes += faster;
  sample.cluster.other_nodes = {kind};
  return sample;
}

/// Silent layers with a stage per node: placed by a rank file, one GPU of each.
Scenario layers_on_nodes(std::int64_t slow, std::int64_t fast, std::int64_t micro_batches) {
  Scenario sample = silent_layers(slow + fast, micro_batches);
  sample.cluster.nodes = slow;
  sample = with_faster(sample, fast);
  sample.run.parallel.placement.rank_file = "places";
  for (std::int64_t node = 0; node < slow + fast; ++node) sample.run.parallel.placement.places.emplace_back(node, 0);
  return sample;
}

double simulated(const Job& job) {
  return simulate(job.plan, job.schedule, job.graph, job.model, job.topology, {}).end_s;
}

double estimated(const Job& job) {
  return estimate(job.plan, job.schedule, job.graph, job.model, job.topology).step_time.value;
}

}  // namespace

TEST_CASE("a stage takes the time of the GPUs that hold it", "[sim]") {
  // F = B = 1 ms on the slow GPU, 0.5 ms on the fast one. GPipe with 4 micro-batches: the slow stage is first, so the
  // fast one waits: 4 F, the last micro-batch's f and b, then 4 B behind the first gradient. The first B of the slow
  // stage starts at 4 + 0.5 + 0.5 = 5 ms and needs 4 ms.
  const Job job = job_of(layers_on_nodes(1, 1, 4), "gpipe", of_two_kinds());
  CHECK(estimated(job) == Approx(9e-3));
  CHECK(simulated(job) == Approx(9e-3));
  // Both slow: 4 + 1 + 1 + 4.
  Scenario slow = layers_on_nodes(1, 1, 4);
  slow.cluster.other_nodes.clear();
  CHECK(estimated(job_of(slow, "gpipe")) == Approx(10e-3));
}

TEST_CASE("a slow GPU slows its own stage and no other, in the closed form as in the simulation", "[sim]") {
  // The first stage's GPU at half its speed: F = B = 2 ms, then 1 ms. 4 x 2 + 1 + 1 + 4 x 2.
  Scenario sample = layers_on_nodes(1, 1, 4);
  sample.cluster.other_nodes.clear();
  FaultSpec fault;
  fault.kind = FaultKind::gpu;
  fault.device = "gpu0";
  fault.left = 0.5;
  fault.nodes = {0};
  sample.cluster.faults = {fault};
  const Job job = job_of(sample, "gpipe");
  CHECK(estimated(job) == Approx(18e-3));
  CHECK(simulated(job) == Approx(18e-3));
}

TEST_CASE("data replicas on two kinds go at the pace of the slower", "[sim]") {
  Scenario sample = scenario(2, 1, 8, 1);  // 16 ranks on two nodes
  sample.cluster.nodes = 2;
  const double alike = estimated(job_of(sample, "gpipe"));
  sample.cluster.nodes = 1;
  const Job job = job_of(with_faster(sample, 1), "gpipe", of_two_kinds());
  CHECK(estimated(job) == Approx(alike).epsilon(0.01));
  CHECK(simulated(job) == Approx(estimated(job)).epsilon(0.05));
  const Folding folding = folding_of(job.plan, job.graph, job.topology, 1);
  CHECK_FALSE(folding.folded);
  CHECK(folding.note.find("nodes of several kinds") != std::string::npos);
}

TEST_CASE("memory is held against the GPU that a stage lies on, MFU against the mean peak", "[sim]") {
  const Job job = job_of(layers_on_nodes(1, 1, 4), "gpipe", of_two_kinds());
  const std::vector<MemoryPeak> peaks = memory_peaks(job.plan, job.schedule);
  CHECK(peaks[0].limit.value == 80e9);
  CHECK(peaks[1].limit.value == 40e9);
  CHECK(mean_peak(job.plan, Dtype::fp16) == Approx(1.5 * 312e12));
  CHECK(gpu_spec_of(job.plan, Rank(std::int32_t{1})).name == "twice");
}

TEST_CASE("the partition by time gives the faster GPUs more blocks", "[sim]") {
  Scenario sample = layers_on_nodes(1, 1, 4);
  sample.model.plain_layers.assign(9, sample.model.plain_layers.front());
  sample.run.partition.rule = PartitionRule::time;
  balance_partition(sample, build_topology(sample.cluster), of_two_kinds());
  // 3 layers of 2 ms against 6 of 1 ms.
  CHECK(sample.run.partition.blocks_per_stage == std::vector<std::int64_t>{3, 6});
}

TEST_CASE("a model without the calibration of another kind is refused", "[sim]") {
  const Scenario sample = layers_on_nodes(1, 1, 4);
  CHECK_THROWS_AS(job_of(sample, "gpipe", ideal_calibration()), std::invalid_argument);
}

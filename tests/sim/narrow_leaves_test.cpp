// Clusters whose leaves send less up than their NICs bring: what it costs, in closed form and simulated.

#include <catch2/catch.hpp>

#include "estimate/estimate.hpp"
#include "sample_job.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

struct Steps {
  double estimated = 0, simulated = 0;
};

Steps steps_of(const Scenario& scenario) {
  const Job job = job_of(scenario, "1f1b");
  return {estimate(job.plan, job.schedule, job.graph, job.model, job.topology).step_time.value,
          simulate(job.plan, job.schedule, job.graph, job.model, job.topology, {}).end_s};
}

/// Two nodes to a leaf.
Scenario narrow(Scenario sample, double oversubscription) {
  sample.cluster.fabric.nodes_per_leaf_group = 2;
  sample.cluster.fabric.oversubscription = oversubscription;
  return sample;
}

Scenario data_parallel() {
  Scenario sample = scenario(8, 2, 4, 8);
  sample.run.overlap.gradient_reduce = true;
  return sample;
}

Scenario hybrid_sharded() {
  Scenario sample = scenario(1, 1, 64, 8, 4);
  sample.run.zero_stage = 3;
  sample.run.sharding.group = 16;
  sample.run.overlap.gradient_reduce = true;
  sample.run.overlap.parameter_gather = true;
  return sample;
}

Scenario experts_across_nodes() {
  Scenario sample = scenario(1, 1, 32, 4, 4);
  sample.model.moe.experts = 32;
  sample.model.moe.top_k = 4;
  sample.model.moe.ffn_hidden = 2048;
  sample.run.parallel.expert = 32;
  return sample;
}

struct Layout {
  const char* name;
  Scenario (*make)();
};
constexpr Layout layouts[] = {
    {"data", data_parallel}, {"hybrid sharding", hybrid_sharded}, {"experts", experts_across_nodes}};

}  // namespace

TEST_CASE("the narrower its leaves, the longer a step takes, in closed form as simulated", "[sim]") {
  for (const auto& [name, layout] : layouts) {
    Steps before = steps_of(narrow(layout(), 1));
    const Steps wide = before;
    for (const double oversubscription : {2.0, 4.0, 16.0, 64.0}) {
      INFO(name << ", oversubscription " << oversubscription);
      const Steps now = steps_of(narrow(layout(), oversubscription));
      CHECK(now.estimated >= before.estimated * (1 - 1e-9));
      CHECK(now.simulated >= before.simulated * (1 - 1e-9));
      CHECK(now.estimated == Approx(now.simulated).epsilon(0.03));
      before = now;
    }
    INFO(name);
    CHECK(before.simulated > 1.5 * wide.simulated);
  }
}

TEST_CASE("behind narrow leaves a faster GPU never makes a step slower", "[sim]") {
  for (const auto& [name, layout] : layouts) {
    for (const double oversubscription : {1.0, 8.0, 64.0}) {
      INFO(name << ", oversubscription " << oversubscription);
      Scenario fast = narrow(layout(), oversubscription);
      const Steps slower = steps_of(fast);
      for (auto& [dtype, peak] : fast.cluster.gpu.peak) peak = {2 * peak.value};
      fast.cluster.gpu.memory_bandwidth = {2 * fast.cluster.gpu.memory_bandwidth.value};
      const Steps faster = steps_of(fast);
      CHECK(faster.estimated <= slower.estimated * (1 + 1e-9));
      CHECK(faster.simulated <= slower.simulated * (1 + 1e-9));
    }
  }
}

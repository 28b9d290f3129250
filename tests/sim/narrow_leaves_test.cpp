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

Steps steps_of(const Scenario& scenario, const char* schedule) {
  const Job job = job_of(scenario, schedule);
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

/// Ranks 0 and 3, and 1 and 2, hold the same stages on different leaves.
Scenario two_copies() {
  return scenario(8, 4, 1, 4);
}

Scenario tensor_across_nodes() {
  Scenario sample = scenario(4, 1, 8, 4, 4);
  sample.run.parallel.placement.order = {ParallelAxis::data, ParallelAxis::tensor, ParallelAxis::context,
                                         ParallelAxis::pipeline};
  return sample;
}

struct Layout {
  const char* name;
  Scenario (*make)();
  const char* schedule = "1f1b";
  double agree = 0.03;  // the closed form has all pipeline ranks reduce at the same time
};
constexpr Layout layouts[] = {{"data", data_parallel},
                              {"hybrid sharding", hybrid_sharded},
                              {"experts", experts_across_nodes},
                              {"bidirectional", two_copies, "dualpipe", 0.25},
                              {"tensor", tensor_across_nodes}};

}  // namespace

TEST_CASE("the narrower its leaves, the longer a step takes, in closed form as simulated", "[sim]") {
  for (const auto& [name, layout, schedule, agree] : layouts) {
    Steps before = steps_of(narrow(layout(), 1), schedule);
    const Steps wide = before;
    for (const double oversubscription : {2.0, 4.0, 16.0, 64.0}) {
      INFO(name << ", oversubscription " << oversubscription);
      const Steps now = steps_of(narrow(layout(), oversubscription), schedule);
      CHECK(now.estimated >= before.estimated * (1 - 1e-9));
      CHECK(now.simulated >= before.simulated * (1 - 1e-9));
      CHECK(now.estimated == Approx(now.simulated).epsilon(agree));
      before = now;
    }
    INFO(name);
    CHECK(before.simulated > 1.5 * wide.simulated);
  }
}

TEST_CASE("behind narrow leaves a faster GPU never makes a step slower", "[sim]") {
  for (const auto& [name, layout, schedule, agree] : layouts) {
    for (const double oversubscription : {1.0, 8.0, 64.0}) {
      INFO(name << ", oversubscription " << oversubscription);
      Scenario fast = narrow(layout(), oversubscription);
      const Steps slower = steps_of(fast, schedule);
      for (auto& [dtype, peak] : fast.cluster.gpu.peak) peak = {2 * peak.value};
      fast.cluster.gpu.memory_bandwidth = {2 * fast.cluster.gpu.memory_bandwidth.value};
      const Steps faster = steps_of(fast, schedule);
      CHECK(faster.estimated <= slower.estimated * (1 + 1e-9));
      CHECK(faster.simulated <= slower.simulated * (1 + 1e-9));
    }
  }
}

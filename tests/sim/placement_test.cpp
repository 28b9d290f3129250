// What a placement of ranks does to groups, messages and steps.
#include <catch2/catch.hpp>

#include "cost/faulty_groups.hpp"
#include "estimate/estimate.hpp"
#include "sample_job.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

Scenario with_order(Scenario sample, std::array<ParallelAxis, 4> order) {
  sample.run.parallel.placement.order = order;
  return sample;
}

constexpr std::array pipeline_first{ParallelAxis::pipeline, ParallelAxis::tensor, ParallelAxis::context,
                                    ParallelAxis::data};

double simulated(const Job& job, bool folded = true) {
  SimulationOptions options;
  options.folded = folded;
  return simulate(job.plan, job.schedule, job.graph, job.model, job.topology, options).end_s;
}

}  // namespace

TEST_CASE("with the pipeline innermost messages stay inside the node and data groups leave it", "[sim]") {
  // Two nodes of 8 GPUs: pipeline 8 x data 2. Usually ranks 0 and 1 of a data group are neighbours in one node.
  const Scenario usual = scenario(1, 8, 2, 2);
  const Job plain = job_of(usual, "1f1b"), moved = job_of(with_order(usual, pipeline_first), "1f1b");
  CHECK(shape_of(plain.model, Axis::data).nodes == 1);
  CHECK(shape_of(moved.model, Axis::data).nodes == 2);
  // Stage 3 to 4: GPUs 6 and 8 on different nodes, or GPUs 3 and 4 on one.
  const auto crosses = [](const Job& job) {
    const Route route = slowest_route(job.plan, job.topology, PipelineRank(3), PipelineRank(4));
    for (const LinkId id : route.links) {
      if (link(job.topology, id).kind == LinkKind::network) return true;
    }
    return false;
  };
  CHECK(crosses(plain));
  CHECK_FALSE(crosses(moved));
}

TEST_CASE("tensor groups spread over nodes cost a step more than those inside one", "[sim]") {
  const Scenario usual = scenario(8, 1, 2, 2);
  const Job inside = job_of(usual, "1f1b");
  const Job spread = job_of(
      with_order(usual, {ParallelAxis::data, ParallelAxis::tensor, ParallelAxis::context, ParallelAxis::pipeline}),
      "1f1b");
  CHECK(shape_of(inside.model, Axis::tensor).nodes == 1);
  CHECK(shape_of(spread.model, Axis::tensor).nodes == 2);
  CHECK(simulated(spread) > 1.05 * simulated(inside));
}

TEST_CASE("a rank file that says what the usual order does gives the same step, played without folding", "[sim]") {
  Scenario sample = scenario(2, 2, 2, 1);
  const Job usual = job_of(sample, "1f1b");
  PlacementSpec& placement = sample.run.parallel.placement;
  placement.rank_file = "ranks.txt";
  for (std::int64_t gpu = 0; gpu < 8; ++gpu) placement.places.push_back({0, gpu});
  const Job listed = job_of(sample, "1f1b");
  const Folding folding = folding_of(listed.plan, listed.graph, listed.topology, 1);
  CHECK_FALSE(folding.folded);
  CHECK_THAT(folding.note, Catch::Contains("the rank file sets the 2 data replicas apart"));
  CHECK(simulated(listed) == Approx(simulated(usual, false)).epsilon(1e-9));
}

TEST_CASE("a rank file that splits one replica's tensor group over two nodes slows the step for all", "[sim]") {
  Scenario sample = scenario(2, 1, 4, 2);
  PlacementSpec& placement = sample.run.parallel.placement;
  placement.rank_file = "ranks.txt";
  placement.places = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}};
  const Job whole = job_of(sample, "1f1b");
  std::swap(placement.places[3], placement.places[4]);  // ranks 2 and 3, 4 and 5 are tensor groups
  const Job split = job_of(sample, "1f1b");
  CHECK(shape_of(whole.model, Axis::tensor).nodes == 1);
  CHECK(shape_of(split.model, Axis::tensor).nodes == 2);
  CHECK(simulated(split) > 1.02 * simulated(whole));
}

TEST_CASE("CUDA graphs free a step from the host's pace, and a slow loader adds its wait", "[sim]") {
  Calibration launches = ideal_calibration();
  launches.constants["host_launch_us"] = exactly(1000);  // far slower than the GPU
  Scenario sample = scenario(1, 1, 1, 1, 2);
  const double launched = simulated(job_of(sample, "1f1b", launches));
  sample.run.cuda_graphs = true;
  const double captured = simulated(job_of(sample, "1f1b", launches));
  CHECK(captured == Approx(simulated(job_of(sample, "1f1b"))));  // where launches take no time
  CHECK(launched > 2 * captured);
  sample.run.data_loading_s = 0.25;
  CHECK(simulated(job_of(sample, "1f1b", launches)) == Approx(captured + 0.25));
}

// Drawn steps of a small pipeline.
#include "estimate/jitter.hpp"

#include <catch2/catch.hpp>

#include "cost/cost_model.hpp"
#include "estimate/compute_schedule.hpp"
#include "plan/plan.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

const Library library{{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};

JitteredSteps drawn(const JitterSpec& jitter, std::int64_t replicas) {
  const Scenario scenario = load_scenario(STAGECRAFT_SOURCE_DIR "/scenarios/gpt-145b-selene.json", {}, library);
  const Topology topology = build_topology(scenario.cluster);
  const Plan plan = make_plan(scenario);
  const CostModel costs = make_cost_model(plan, topology, calibration_of(scenario, library));
  Findings notes;
  const Schedule schedule = lower(compute_schedule(scenario, plan, costs, topology, notes), plan);
  const Graph graph = make_graph(schedule);
  return jittered_steps(jitter, cost_nodes(plan, schedule, graph, costs, topology), schedule, graph, replicas);
}

}  // namespace

TEST_CASE("without a spread nothing is drawn") {
  CHECK(drawn({0, 1, 8}, 4).replicas == 0);
}

TEST_CASE("the same seed draws the same steps, another one others") {
  const JitteredSteps first = drawn({0.1, 1, 4}, 2), again = drawn({0.1, 1, 4}, 2), other = drawn({0.1, 2, 4}, 2);
  CHECK(first.mean_s == again.mean_s);
  CHECK(first.p95_s == again.p95_s);
  CHECK(first.mean_s != other.mean_s);
}

TEST_CASE("a pipeline waits for whoever is late: jitter of mean 1 makes steps longer, more so with more replicas") {
  const JitteredSteps one = drawn({0.2, 1, 8}, 1), many = drawn({0.2, 1, 8}, 8);
  CHECK(one.slowdown > 1.005);
  CHECK(many.slowdown > one.slowdown);
  CHECK(one.median_s <= one.p95_s);
}

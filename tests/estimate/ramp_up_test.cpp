// The start of a training run with small batches, added up by hand from step times.
#include "estimate/ramp_up.hpp"

#include <catch2/catch.hpp>

#include "base/refusal.hpp"
#include "cost/cost_model.hpp"
#include "plan/feasibility.hpp"
#include "plan/plan.hpp"

using namespace stagecraft;

namespace {

const Library library{{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};

Scenario scenario_of(const std::vector<std::string>& overrides) {
  return load_scenario(STAGECRAFT_SOURCE_DIR "/scenarios/gpt-145b-selene.json", overrides, library);
}

RampUp ramp_of(const Scenario& scenario, double step_s) {
  const Topology topology = build_topology(scenario.cluster);
  return ramp_up(scenario, make_cost_model(make_plan(scenario), topology, calibration_of(scenario, library)), topology,
                 {step_s});
}

bool refused(const Scenario& scenario, const std::string& pointer, const std::string& nearest) {
  for (const Finding& finding : check_feasible(scenario)) {
    if (finding.pointer == pointer && finding.severity == Severity::error) return finding.nearest == nearest;
  }
  return false;
}

}  // namespace

TEST_CASE("a batch that grows by half of itself once takes two sizes of steps") {
  Scenario scenario = scenario_of({});
  const std::int64_t global = scenario.run.batch.global;
  scenario.run.batch.ramp_up = RampUpSpec{global / 2, global / 2, 10 * (global / 2) - 1};
  const RampUp ramp = ramp_of(scenario, 20);
  CHECK(ramp.sizes == 1);
  CHECK(ramp.steps == 10);  // 9.99 of them, and steps are whole
  // Half a batch takes more than half of the time of a whole one, for its bubble is as long, and less than all of it.
  CHECK(ramp.time_s > 10 * 20 / 2.0);
  CHECK(ramp.time_s < 10 * 20);
  CHECK(ramp.lost_s == Approx(ramp.time_s - 10 * 20 / 2.0));
}

TEST_CASE("without a ramp nothing is lost") {
  const RampUp ramp = ramp_of(scenario_of({}), 20);
  CHECK(ramp.sizes == 0);
  CHECK(ramp.lost_s == 0);
}

TEST_CASE("a ramp that does not lead to the whole batch in whole micro-batches is refused with one that does") {
  Scenario scenario = scenario_of({});
  const std::int64_t share = scenario.run.batch.micro * scenario.run.parallel.data;
  scenario.run.batch.ramp_up = RampUpSpec{share + 1, share, 1000};
  CHECK(refused(scenario, "/batch/ramp_up/start", std::to_string(share)));
  scenario.run.batch.ramp_up = RampUpSpec{share, share + 1, 1000};
  CHECK(refused(scenario, "/batch/ramp_up/increment", std::to_string(share)));
  scenario.run.batch.ramp_up = RampUpSpec{share, share, 1000};
  CHECK_FALSE(has_errors(check_feasible(scenario)));
}

TEST_CASE("a size on the way that the schedule cannot run is named, with increments that would work") {
  Scenario scenario = scenario_of({});
  const std::int64_t share = scenario.run.batch.micro * scenario.run.parallel.data;
  scenario.run.batch.ramp_up = RampUpSpec{share, share, 1000};
  try {
    ramp_of(scenario, 20);
    FAIL("nothing was refused");
  } catch (const Refusal& refusal) {
    CHECK(refusal.findings().front().pointer == "/batch/ramp_up/increment");
    CHECK(refusal.findings().front().nearest ==
          "start and increment that are multiples of " + std::to_string(share * scenario.run.parallel.pipeline));
  }
}

// What the cost room takes of an estimate: bodies, their times, the model, for 145.6B parameters on 1536 A100.

#include "cost/cost_model.hpp"
#include "figure.hpp"

using namespace stagecraft;

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const Scenario scenario = load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library);
  const Plan plan = make_plan(scenario);
  const Topology topology = build_topology(scenario.cluster);
  const Calibration calibration = calibration_of(scenario, library);
  const Bodies bodies = make_bodies(plan);
  const CostModel model = make_cost_model(plan, topology, calibration);
  constexpr int runs = 200;
  bench::print(
      {"cost/145b/make-bodies", bench::median_seconds(runs, [&] { make_bodies(plan); }), "s", 1e-4, "a tenth of 1 ms"},
      json);
  bench::print(
      {"cost/145b/make-cost-model", bench::median_seconds(runs, [&] { make_cost_model(plan, topology, calibration); }),
       "s", 1e-4, "a tenth of 1 ms"},
      json);
  bench::print({"cost/145b/time-bodies", bench::median_seconds(runs, [&] { time_bodies(model, bodies, plan); }), "s",
                1e-4, "a tenth of 1 ms"},
               json);
  return 0;
}

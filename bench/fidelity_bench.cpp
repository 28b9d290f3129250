// Predicted step time of every shipped scenario that has a published one, beside it, and the errors of all together.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "estimate/estimate.hpp"
#include "figure.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

double predicted_step(const Scenario& scenario, const Library& library) {
  const Plan plan = make_plan(scenario);
  const Topology topology = build_topology(scenario.cluster);
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  const Schedule schedule = lower(find_schedule(plan.run.schedule.name)->generate(request), plan);
  const Graph graph = make_graph(schedule);
  const CostModel model = make_cost_model(plan, topology, load_calibration(scenario.calibration, library));
  return estimate(plan, schedule, graph, model, topology).step_time.value;
}

const PublishedFigure* published_step(const Scenario& scenario) {
  for (const PublishedFigure& figure : scenario.published) {
    if (figure.key == "step_time_s") return &figure;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/scenarios")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<double> errors;
  for (const std::string& file : files) {
    const Scenario scenario = load_scenario(file, {}, library);
    const PublishedFigure* published = published_step(scenario);
    if (published == nullptr || has_errors(check_feasible(scenario))) continue;
    const double step = predicted_step(scenario, library);
    bench::print({"fidelity/" + scenario.name, step, "s", published->value, published->source}, json);
    errors.push_back(std::abs(step / published->value - 1));
  }
  if (errors.empty()) return 1;
  const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  bench::print({"fidelity/step-time/mean-error", 100 * mean, "%", 8.0, "limit"}, json);
  bench::print(
      {"fidelity/step-time/worst-error", 100 * *std::max_element(errors.begin(), errors.end()), "%", 15.0, "limit"},
      json);
  return 0;
}

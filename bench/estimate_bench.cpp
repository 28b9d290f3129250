// The closed form of 145.6B parameters on 1536 GPUs, from the parsed scenario to step time and memory.

#include <string>

#include "base/allocator.hpp"
#include "cost/cost_model.hpp"
#include "estimate/estimate.hpp"
#include "estimate/stage_durations.hpp"
#include "figure.hpp"
#include "memory/timeline.hpp"
#include "schedule/check.hpp"
#include "schedule/family.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;

int main(int argc, char** argv) {
  keep_freed_memory();  // as the program does
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library = default_library(root + "/build/stagecraft");
  const Scenario scenario = load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library);
  const Calibration calibration = calibration_of(scenario, library);
  const FamilyEntry* const family = find_schedule(scenario.run.schedule.name);

  double step_s = 0, peak_bytes = 0;
  const auto once = [&] {
    const Topology topology = build_topology(scenario.cluster);
    const Plan plan = make_plan(scenario);
    const CostModel costs = make_cost_model(plan, topology, calibration);
    ScheduleRequest request;
    request.shape = {plan.degrees.pipeline, plan.micro_batches,
                     static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
    const Schedule schedule = lower(family->generate(request), plan);
    const Graph graph = make_graph(schedule);
    step_s = estimate(plan, schedule, graph, costs, topology).step_time.value;
    for (const MemoryPeak& peak : memory_peaks(plan, schedule)) peak_bytes = std::max(peak_bytes, peak.peak.value);
  };
  bench::print({"estimate/gpt-145b-1536", 1e3 * bench::median_seconds(201, once), "ms", 1.0, "limit"}, json);
  bench::print({"estimate/gpt-145b-1536/step-time", step_s, "s", 24.817, "arXiv 2104.04473"}, json);
  bench::print({"estimate/gpt-145b-1536/peak-memory", peak_bytes / 1073741824.0, "GiB", {}, ""}, json);

  const Topology topology = build_topology(scenario.cluster);
  const Plan plan = make_plan(scenario);
  const CostModel costs = make_cost_model(plan, topology, calibration);
  const Schedule schedule = [&] {
    ScheduleRequest request;
    request.shape = {plan.degrees.pipeline, plan.micro_batches,
                     static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
    return lower(family->generate(request), plan);
  }();
  const Graph graph = make_graph(schedule);
  const auto part = [&](const char* name, auto&& work) {
    bench::print({std::string("estimate/gpt-145b-1536/") + name, 1e3 * bench::median_seconds(201, work), "ms", {}, ""},
                 json);
  };
  part("topology", [&] { return build_topology(scenario.cluster).links_per_node; });
  part("plan", [&] { return make_plan(scenario).stages.size(); });
  part("cost-model", [&] { return shape_of(make_cost_model(plan, topology, calibration), Axis::tensor).ranks; });
  part("lower", [&] {
    ScheduleRequest request;
    request.shape = {plan.degrees.pipeline, plan.micro_batches,
                     static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
    return lower(family->generate(request), plan).programs.size();
  });
  part("graph", [&] { return make_graph(schedule).order.size(); });
  part("costs-and-path", [&] { return estimate(plan, schedule, graph, costs, topology).step_time.value; });
  part("memory", [&] { return memory_peaks(plan, schedule).size(); });
}

// How long the simulator takes, and how much memory: whole steps, many operations, large clusters.

#ifdef STAGECRAFT_HAVE_SIM

#include <sys/resource.h>

#include "figure.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "sim/simulate.hpp"

using namespace stagecraft;

namespace {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

struct Job {
  Plan plan;
  Topology topology;
  Schedule schedule;
  Graph graph;
  CostModel model;
};

Job prepare(const Scenario& scenario, const Library& library) {
  Job job;
  job.plan = make_plan(scenario);
  job.topology = build_topology(scenario.cluster);
  ScheduleRequest request;
  request.shape = {job.plan.degrees.pipeline, job.plan.micro_batches,
                   static_cast<std::int32_t>(job.plan.run.parallel.virtual_stages)};
  job.schedule = lower(find_schedule(job.plan.run.schedule.name)->generate(request), job.plan);
  job.graph = make_graph(job.schedule);
  job.model = make_cost_model(job.plan, job.topology, load_calibration(scenario.calibration, library));
  return job;
}

Trace simulate(const Job& job) {
  return stagecraft::simulate(job.plan, job.schedule, job.graph, job.model, job.topology, SimulationOptions{});
}

/// 145.6 billion parameters on 1536 GPUs, from the parsed scenario to the trace.
void measure_145b(const std::string& root, const Library& library, bool json) {
  const Scenario scenario = load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library);
  const double seconds = bench::median_seconds(5, [&] { simulate(prepare(scenario, library)); });
  bench::print({"simulate/145b-1536-gpus", seconds, "s", 1.0, "limit"}, json);
  bench::print({"simulate/145b-1536-gpus/memory", peak_megabytes(), "MB", 300.0, "limit"}, json);
}

/// 1F1B over one GPU per stage: every message is a flow that shares its NIC with those of the other direction.
/// Memory is the growth of the process' peak, so it is taken from the first run only.
void measure_1f1b(const std::string& root, const Library& library, std::int64_t gpus, bool with_memory, bool json) {
  Scenario scenario = load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library);
  PlainLayerSpec layer;
  layer.name = "layer";
  layer.forward_flops_per_sample = {1e12};
  layer.output_per_sample = {50e6};
  scenario.model.plain_layers.assign(static_cast<std::size_t>(gpus), layer);
  scenario.run.parallel = {1, 1, gpus, 1, 1, false};
  scenario.run.batch = {1'000'000 / (6 * gpus), 1};
  scenario.run.schedule = {};
  scenario.cluster.nodes = gpus / 8;
  const Job job = prepare(scenario, library);
  const double before = peak_megabytes();
  const double seconds = bench::median_seconds(1, [&] { simulate(job); });
  const std::string name = "simulate/1f1b-" + std::to_string(gpus) + "-gpus";
  const double operations = node_count(job.graph);
  bench::print({name, operations / seconds, "operations/s", 700e3, "limit"}, json);
  if (!with_memory) return;
  bench::print({name + "/memory", (peak_megabytes() - before) * 1e6 / operations, "B/operation", 120.0, "limit"}, json);
}

void measure_topology(const Library& library, bool json) {
  ClusterSpec cluster = load_cluster("selene", library);
  cluster.nodes = 12'500;
  const double seconds = bench::median_seconds(3, [&] {
    const Topology topology = build_topology(cluster);
    Route route;
    for (int gpu = 0; gpu < 100'000; ++gpu) find_route(topology, GpuId(gpu), GpuId((gpu + 50'000) % 100'000), route);
  });
  bench::print({"topology/100000-gpus", seconds, "s", 5.0, "limit"}, json);
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  measure_145b(root, library, json);
  measure_topology(library, json);
  measure_1f1b(root, library, 1024, true, json);
  measure_1f1b(root, library, 64, false, json);
  return 0;
}

#else
int main() {
  return 0;
}
#endif

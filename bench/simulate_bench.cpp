// How long the simulator takes, and how much memory: whole steps, many operations, large clusters.

#ifdef STAGECRAFT_HAVE_SIM

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>

#include "figure.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "sim/simulate.hpp"
#include "sim/traffic_sample.hpp"
#include "simulate_bare.hpp"

using namespace stagecraft;

namespace {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

/// In a process of its own, whose peak is that of `work` alone.
template <class Work>
void apart(Work&& work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0 || status != 0) throw std::runtime_error("a measurement failed");
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
  job.model = make_cost_model(job.plan, job.topology, calibration_of(scenario, library));
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
Job pipeline_job(const std::string& root, const Library& library, std::int64_t gpus) {
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
  return prepare(scenario, library);
}

/// The bare loop on the operations and flows of the same job; before any simulation of this process.
bench::BareRun bare_run(const Job& job) {
  const LocalCosts costs = local_costs(job.plan, job.schedule, job.model, job.topology, true);
  const TrafficSample sample = traffic_sample(job.plan, job.topology, true);
  return bench::play_bare(make_playbook(job.plan, job.schedule, costs, job.topology, sample, true), job.graph);
}

/// What simulating takes beside the job itself: the growth of the peak of a process that does nothing else.
void measure_1f1b_memory(const std::string& root, const Library& library, std::int64_t gpus, bool json) {
  apart([&] {
    const Job job = pipeline_job(root, library, gpus);
    const double before = peak_megabytes();
    const Trace trace = simulate(job);
    const double bytes = (peak_megabytes() - before) * 1e6 / node_count(job.graph);
    bench::print({"simulate/1f1b-" + std::to_string(gpus) + "-gpus/memory", bytes, "B/operation", 120.0, "limit"},
                 json);
  });
}

void measure_1f1b(const Job& job, const bench::BareRun& bare, std::int64_t gpus, bool json) {
  Trace trace;
  const double seconds = bench::median_seconds(1, [&] { trace = simulate(job); });
  const std::string name = "simulate/1f1b-" + std::to_string(gpus) + "-gpus";
  const double operations = node_count(job.graph);
  bench::print({name, operations / seconds, "operations/s", 700e3, "limit"}, json);
  bench::print({name + "/bare-simgrid", operations / bare.seconds, "operations/s", {}, ""}, json);
  bench::print({name + "/time-over-bare-simgrid", seconds / bare.seconds, "x", 1.5, "limit"}, json);
  if (std::abs(trace.end_s / bare.end_s - 1) > 1e-6) throw std::runtime_error(name + ": the bare loop ends elsewhere");
}

/// 32 pipeline ranks whose gradients are reduced over 256 replicas, every replica played on its own: 8,192 GPUs with 32
/// buckets, one flow per rank and bucket.
void measure_buckets(const std::string& root, const Library& library, bool json) {
  Scenario scenario = load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library);
  PlainLayerSpec layer;
  layer.name = "layer";
  layer.forward_flops_per_sample = {1e12};
  layer.parameters = 1e8;
  layer.output_per_sample = {50e6};
  scenario.model.plain_layers.assign(32, layer);
  scenario.run.parallel = {1, 1, 32, 256, 1, false};
  scenario.run.batch = {256 * 8, 1};
  scenario.run.schedule = {};
  scenario.cluster.nodes = 1024;
  const Job job = prepare(scenario, library);
  SimulationOptions options;
  options.folded = false;
  const double seconds = bench::median_seconds(
      1, [&] { stagecraft::simulate(job.plan, job.schedule, job.graph, job.model, job.topology, options); });
  bench::print({"simulate/8192-gpus-32-buckets", seconds, "s", 10.0, "limit"}, json);
  bench::print({"simulate/8192-gpus-32-buckets/operations", 256.0 * node_count(job.graph), "", {}, ""}, json);
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
  bench::print({"topology/100000-gpus/memory", peak_megabytes(), "MB", 2000.0, "limit"}, json);
  cluster.nodes = 1024;
  const double small = bench::median_seconds(9, [&] { build_topology(cluster); });
  bench::print({"topology/1024-nodes", small, "s", 0.1, "limit"}, json);
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  apart([&] { measure_145b(root, library, json); });
  measure_1f1b_memory(root, library, 1024, json);
  apart([&] { measure_topology(library, json); });
  const Job large = pipeline_job(root, library, 1024), small = pipeline_job(root, library, 64);
  const bench::BareRun bare_large = bare_run(large), bare_small = bare_run(small);
  measure_1f1b(large, bare_large, 1024, json);
  measure_1f1b(small, bare_small, 64, json);
  measure_buckets(root, library, json);
  return 0;
}

#else
int main() {
  return 0;
}
#endif

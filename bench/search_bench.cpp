// How many configurations per second a search judges, and what a simulation of large clusters costs.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/allocator.hpp"
#include "estimate/compute_schedule.hpp"
#include "figure.hpp"
#include "schedule/lower.hpp"
#include "search/search.hpp"
#ifdef STAGECRAFT_HAVE_SIM
#include "sim/simulate.hpp"
#endif

using namespace stagecraft;

namespace {

constexpr int cores = 2;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Every candidate that can run: step time in closed form and memory verdict, nothing pruned.
double judge_and_time(const SearchContext& context, const std::vector<Candidate>& candidates) {
  constexpr std::size_t block = 32;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const double seconds = seconds_of([&] {
    for (int core = 0; core < cores; ++core) {
      threads.emplace_back([&] {
        Scenario scenario = context.scenario;
        ScheduleCache cache;
        for (std::size_t begin = next.fetch_add(block); begin < candidates.size(); begin = next.fetch_add(block)) {
          for (std::size_t i = begin; i < std::min(candidates.size(), begin + block); ++i) {
            if (!judge(context, scenario, candidates[i], cache).reason.empty()) continue;
            (void)closed_form_s(context, scenario, candidates[i], cache);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  return static_cast<double>(candidates.size()) / seconds;
}

void measure_closed_form(const std::string& root, const Library& library, bool json) {
  const Scenario scenario = load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, library);
  const SearchContext context = make_search_context(scenario, calibration_of(scenario, library), 0.05);
  // The pipeline of the paper, everything else free: about as many operations per step as the published run has.
  SearchSpace asked;
  asked.pipeline = {8};
  asked.tensor = {8};
  asked.virtual_stages = {1, 2};
  std::vector<Candidate> runnable;
  for (const Candidate& candidate : candidates_of(scenario, usual_space(scenario, asked, 1536), 1536)) {
    Scenario copy = context.scenario;
    ScheduleCache cache;
    if (judge(context, copy, candidate, cache).reason.empty()) runnable.push_back(candidate);
  }
  std::stable_sort(runnable.begin(), runnable.end(), schedule_comes_before);  // as a search takes them
  bench::print({"search/closed-form-and-memory/145b-1536-gpus", judge_and_time(context, runnable), "configurations/s",
                5000.0, "limit"},
               json);

  bench::print(
      {"search/closed-form-and-memory/145b-1536-gpus/candidates", static_cast<double>(runnable.size()), "", {}, ""},
      json);

  const std::vector<Candidate> all = candidates_of(scenario, usual_space(scenario, {}, 1536), 1536);
  SearchOptions options;
  options.threads = cores;
  options.most_simulations = 0;
  SearchResult result;
  const double seconds = seconds_of([&] { result = search(context, all, options, nullptr); });
  bench::print({"search/whole-space/145b-1536-gpus", static_cast<double>(all.size()) / seconds, "configurations/s",
                5000.0, "limit"},
               json);
  bench::print({"search/whole-space/145b-1536-gpus/candidates", static_cast<double>(all.size()), "", {}, ""}, json);
}

#ifdef STAGECRAFT_HAVE_SIM

void simulate_scenario(const Scenario& scenario, const Calibration& calibration) {
  const Plan plan = make_plan(scenario);
  const Topology topology = build_topology(scenario.cluster);
  const CostModel model = make_cost_model(plan, topology, calibration);
  Findings notes;
  const Schedule schedule = lower(compute_schedule(scenario, plan, model, topology, notes), plan);
  (void)simulate(plan, schedule, make_graph(schedule), model, topology, SimulationOptions{});
}

/// In a process of its own, as a worker of a sweep: wall seconds per simulation and its peak memory.
struct Cost {
  double seconds = 0, gigabytes = 0;
};

Cost in_workers(const Scenario& scenario, const Calibration& calibration, int workers, int simulations_each) {
  Cost cost;
  cost.seconds = seconds_of([&] {
    for (int worker = 0; worker < workers; ++worker) {
      if (::fork() != 0) continue;
      for (int i = 0; i < simulations_each; ++i) simulate_scenario(scenario, calibration);
      ::_exit(0);
    }
    for (int worker = 0; worker < workers; ++worker) ::wait(nullptr);
  });
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  cost.gigabytes = static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;
  return cost;
}

Scenario shipped(const std::string& root, const Library& library, const std::string& name,
                 const std::vector<std::string>& overrides = {}) {
  return load_scenario(root + "/scenarios/" + name + ".json", overrides, library);
}

void measure_simulations(const std::string& root, const Library& library, bool json) {
  {
    const Scenario scenario = shipped(root, library, "gpt-145b-selene");
    const Calibration calibration = calibration_of(scenario, library);
    constexpr int each = 20;
    const Cost cost = in_workers(scenario, calibration, cores, each);
    bench::print({"search/simulate/145b-1536-gpus", cores * each / cost.seconds, "simulations/s", 20.0, "limit"}, json);
  }
  const auto once = [&](const std::string& name, const Scenario& scenario, double limit) {
    const Calibration calibration = calibration_of(scenario, library);
    const Cost cost = in_workers(scenario, calibration, 1, 1);
    bench::print({"search/simulate/" + name, cost.seconds, "s", limit, "limit"}, json);
    return cost;
  };
  once("1008b-3072-gpus", shipped(root, library, "gpt-1008b-selene"), 1.0);
  once("405b-16384-gpus",
       shipped(root, library, "llama-3-405b-eos",
               {"cluster.nodes=2048", "parallel.tensor=8", "parallel.pipeline=16", "parallel.data=128",
                "parallel.virtual_stages=1", "parallel.partition=parameters", "schedule=1f1b", "batch.global=2048",
                "batch.micro=1"}),
       3.0);
  const Cost largest =
      once("145b-100000-gpus",
           shipped(root, library, "gpt-145b-selene",
                   {"cluster.nodes=12500", "parallel.tensor=8", "parallel.pipeline=10", "parallel.virtual_stages=2",
                    "parallel.data=1250", "batch.global=50000", "batch.micro=1"}),
           15.0);
  bench::print({"search/simulate/145b-100000-gpus/memory", largest.gigabytes, "GB", 4.0, "limit"}, json);
}

#endif

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();  // as the program does
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
#ifdef STAGECRAFT_HAVE_SIM
  measure_simulations(root, library, json);
#endif
  measure_closed_form(root, library, json);
  return 0;
}

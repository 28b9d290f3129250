#include "search_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "base/refusal.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/estimate.hpp"
#include "estimate/steady_state.hpp"
#include "progress.hpp"
#include "schedule/lower.hpp"
#include "search_journal.hpp"
#include "spec/resolve.hpp"
#include "worker_pool.hpp"
#ifdef STAGECRAFT_HAVE_SIM
#include "sim/simulate.hpp"
#endif

namespace stagecraft::cli {
namespace {

using Json = nlohmann::ordered_json;

#ifdef STAGECRAFT_HAVE_SIM
double simulated_step_s(const SearchContext& context, const Candidate& candidate) {
  Scenario scenario = scenario_of(context, candidate);
  balance_partition(scenario, context.topology, context.calibration);
  const Plan plan = make_plan(scenario);
  const CostModel costs = make_cost_model(plan, context.topology, context.calibration);
  Findings notes;
  const Schedule schedule = lower(compute_schedule(scenario, plan, costs, context.topology, notes), plan);
  SimulationOptions how;
  how.steps = std::max(static_cast<std::int32_t>(plan.run.steps), steps_until_steady(schedule));
  const Trace trace = simulate(plan, schedule, make_graph(schedule), costs, context.topology, how);
  return summarise(trace, schedule).summary.step_s;
}
#endif

std::int64_t gpus_of(const ClusterSpec& cluster) {
  return cluster.nodes * gpus_per_node(cluster.node);
}

/// Nodes and global batch come from options of their own, if these are given.
std::vector<InputProblem> in_the_options_words(std::vector<InputProblem> problems, const SearchRequest& request) {
  for (InputProblem& problem : problems) {
    if (problem.file != "--set") continue;
    const char* option = problem.pointer == "/cluster/nodes" && request.gpus > 0          ? "--gpus"
                         : problem.pointer == "/batch/global" && request.global_batch > 0 ? "--global-batch"
                                                                                          : nullptr;
    if (option != nullptr) problem.file = option;
  }
  return problems;
}

Scenario load_request(const SearchRequest& request, const Library& library) {
  try {
    const std::vector<std::string> overrides = search_overrides(request, library);
    if (!request.file.empty()) return load_scenario(request.file, overrides, library);
    return parse_scenario(scenario_text(request), "search", overrides, library);
  } catch (const InputError& error) {
    throw InputError(in_the_options_words(error.problems(), request));
  }
}

/// Candidates are judged on several threads.
struct WatchedJudging {
  std::mutex showing;
  std::int64_t total = 0;
  std::optional<Progress> lines;
};

std::function<void(std::int64_t, std::int64_t)> a_line_a_second(WatchedJudging& watched, std::int64_t candidates) {
  const auto begin = [&watched](std::int64_t total) {
    watched.total = total;
    watched.lines.emplace(total, "candidates judged", true);
  };
  begin(candidates);
  return [&watched, begin](std::int64_t done, std::int64_t total) {
    const std::lock_guard lock(watched.showing);
    if (total != watched.total) begin(total);  // some were known, or it is another list
    watched.lines->reach(done);
  };
}

void show_progress(std::int64_t done, std::int64_t total) {
  std::fputs(fmt::format("\r\x1b[Kstagecraft: {} of {} candidates judged", done, total).c_str(), stderr);
}

/// "a.b=1" as a member of the JSON object.
void set_in(Json& root, const std::string& text) {
  const auto equals = text.find('=');
  std::string pointer = text.substr(0, equals);
  if (!pointer.starts_with('/')) {
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    pointer = "/" + pointer;
  }
  const std::string written = text.substr(equals + 1);
  Json value = Json::parse(written, nullptr, false);
  try {
    root[Json::json_pointer(pointer)] = value.is_discarded() ? Json(written) : value;
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("--write cannot put --set {} into a scenario; write it into the file instead", text));
  }
}

/// A scenario that extends this file would have the file's accumulation beside its own micro-batches.
bool fixes_accumulation(const std::string& file) {
  if (file.empty()) return false;
  const JsonDocument document = resolve_scenario(read_file(file), file);
  const auto batch = document.root().find("batch");
  return batch && batch->is(JsonKind::object) && batch->find("accumulation");
}

}  // namespace

std::string scenario_text(const SearchRequest& request) {
  const Json root = {{"model", request.model},
                     {"cluster", {{"extends", request.cluster}}},
                     {"parallel", Json::object()},
                     {"batch", {{"global", std::max<std::int64_t>(request.global_batch, 1)}}}};
  return root.dump();
}

std::vector<std::string> search_overrides(const SearchRequest& request, const Library& library) {
  std::vector<std::string> overrides = request.overrides;
  if (request.global_batch > 0) overrides.push_back(fmt::format("batch.global={}", request.global_batch));
  if (request.gpus > 0) {
    const Scenario plain = request.file.empty() ? parse_scenario(scenario_text(request), "search", overrides, library)
                                                : load_scenario(request.file, overrides, library);
    const std::int64_t per_node = std::max<std::int64_t>(1, gpus_per_node(plain.cluster.node));
    overrides.push_back(fmt::format("cluster.nodes={}", (request.gpus + per_node - 1) / per_node));
  }
  return overrides;
}

SearchRun run_request(const SearchRequest& request, const Console& console) {
  SearchOptions options;
  options.objectives = request.objectives.empty() ? std::vector<std::string>{"tokens_per_s"} : request.objectives;
  options.keep = request.keep;
  options.most_simulations = request.estimate ? 0 : request.simulations;
  options.threads = request.threads > 0 ? request.threads : usable_processors();
#ifndef STAGECRAFT_HAVE_SIM
  if (!request.estimate)
    throw UsageError("this program was built without SimGrid and cannot simulate; add --estimate for the closed form");
#endif
  SearchSpace asked;
  for (const std::string& text : request.vary) restrict_space(asked, parse_axis(text));

  const Library library = default_library(console.executable);
  const Scenario scenario = load_request(request, library);
  SearchRun run{make_search_context(scenario, calibration_of(scenario, library), request.reserve),
                options,
                {},
                request.gpus > 0 ? request.gpus : gpus_of(scenario.cluster),
                ""};
  run.title = fmt::format("{} on {} GPUs of {}, global batch {}", scenario.model.name, run.gpus, scenario.cluster.name,
                          scenario.run.batch.global);
  std::vector<Candidate> candidates = candidates_of(scenario, usual_space(scenario, asked, run.gpus), run.gpus);
  if (candidates.empty())
    throw UsageError(fmt::format(
        "{} no layout of {} GPUs with a global batch of {}: degrees must multiply to the GPUs, micro-batches "
        "fill the batch, ZeRO needs data ranks, and several chunks a pipeline",
        request.vary.empty() ? "there is" : "--vary: the values asked for leave", run.gpus, scenario.run.batch.global));
  (void)search_objectives(options.objectives, scenario.run.training);
  std::vector<std::string> files;
  const SweepIdentity identity = identify(request, scenario, library, files);
  keep_apart(files, request.written);
  SearchJournal journal = open_search_journal(request, identity, console);
  attach(run.options, journal);
  const bool shows = console.colour_messages && candidates.size() > 2000 && !request.progress;
  if (shows) run.options.progress = show_progress;
  WatchedJudging watched;
  if (request.progress) run.options.progress = a_line_a_second(watched, static_cast<std::int64_t>(candidates.size()));
  Simulate simulate_one;
#ifdef STAGECRAFT_HAVE_SIM
  std::optional<Progress> simulated;
  simulate_one = [&](const Candidate& candidate) {
    if (request.progress && !simulated) simulated.emplace(options.most_simulations, "simulations at most", true);
    const double seconds = simulated_step_s(run.context, candidate);
    if (simulated) simulated->advance();
    return seconds;
  };
#endif
  run.result = search(run.context, candidates, run.options, simulate_one);
  if (run.result.ranking.empty() && asked.optimizer_home.empty() && asked.activations_home.empty()) {
    asked.optimizer_home = asked.activations_home = {Home::gpu, Home::host};
    run.options.first_number = static_cast<std::int64_t>(candidates.size());  // in the journal, behind those before
    candidates = candidates_of(scenario, usual_space(scenario, asked, run.gpus), run.gpus);
    SearchResult offloaded = search(run.context, candidates, run.options, simulate_one);
    if (!offloaded.ranking.empty()) {
      run.result = std::move(offloaded);
      run.title += "; nothing fits on the GPUs alone, so optimizer states and activations on the hosts were tried too";
    }
  }
  if (shows) std::fputs("\r\x1b[K", stderr);
  run.options.progress = nullptr;
  detach(run.options);
  return run;
}

void add_search_options(CLI::App& app, SearchRequest& request) {
  add_overrides(app, request.overrides);
  app.add_option("--vary", request.vary, "Try these values of a setting instead of the usual ones; may be repeated")
      ->type_name("PATH=VALUES")
      ->allow_extra_args(false);
  app.add_option("--objective", request.objectives,
                 "What is best: tokens_per_s (if none is given), mfu, step_time_s, peak_memory_bytes, ...; the first "
                 "ranks, several give a Pareto front")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  app.add_option("--reserve", request.reserve, "Share of the GPU's memory that stays free (0.05)")
      ->type_name("FRACTION")
      ->check(number_between(0, 0.9));
  app.add_option("--simulate", request.simulations, "At most so many of the best are simulated (24)")
      ->type_name("N")
      ->check(number_between(1, 100'000));
  app.add_flag("--estimate", request.estimate, "Closed form only");
  app.add_flag("--progress", request.progress, "A line with rate and time left every second, for programs that watch");
  app.add_option("--threads", request.threads, "Threads of the closed form (as many as there are processors)")
      ->type_name("N")
      ->check(number_between(1, 1024));
}

std::string candidate_scenario(const SearchRequest& request, const SearchRun& run, const Candidate& candidate,
                               const std::string& description, const std::string& place) {
  Json root = Json::object();
  if (!description.empty()) root["description"] = description;
  if (!request.file.empty()) {
    const auto directory = std::filesystem::absolute(place.empty() ? "scenario.json" : place).parent_path();
    root["extends"] = std::filesystem::absolute(request.file).lexically_relative(directory).string();
  } else {
    root["model"] = request.model;
    root["cluster"] = {{"extends", request.cluster}};
    root["parallel"] = Json::object();
    root["batch"] = {{"global", run.context.scenario.run.batch.global}};
  }
  for (const std::string& text : request.overrides) set_in(root, text);
  if (root.contains("cluster") && root["cluster"].is_string()) root["cluster"] = {{"extends", root["cluster"]}};
  root["cluster"]["nodes"] = run.context.scenario.cluster.nodes;
  root["batch"]["global"] = run.context.scenario.run.batch.global;
  if (root["batch"].contains("accumulation") || fixes_accumulation(request.file)) {
    const std::int64_t each = candidate.micro * candidate.parallel.data;
    root["batch"]["accumulation"] = run.context.scenario.run.batch.global / each;
  }
  const std::vector<std::string> paths = candidate_paths(), values = candidate_values(candidate);
  for (std::size_t i = 0; i < paths.size(); ++i) set_in(root, paths[i] + "=" + values[i]);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stagecraft::cli

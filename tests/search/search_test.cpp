// Levels of the search against what they stand for: the bound against the closed form and the simulation, the memory
// verdict against the one of `simulate`, the winner against trying everything.

#include "search/search.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <sstream>

#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/estimate.hpp"
#include "estimate/steady_state.hpp"
#include "memory/timeline.hpp"
#include "schedule/lower.hpp"
#include "search/explain.hpp"
#include "search/sensitivity.hpp"
#include "search/table.hpp"
#ifdef STAGECRAFT_HAVE_SIM
#include "sim/simulate.hpp"
#endif

using namespace stagecraft;

namespace {

Library library() {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return {{root + "/scenarios", root + "/topologies"}};
}

SearchContext context_of(const std::string& model, std::int64_t nodes, std::int64_t global) {
  const std::string text = R"({"model": ")" + model + R"(", "cluster": {"extends": "selene", "nodes": )" +
                           std::to_string(nodes) + R"(}, "parallel": {}, "batch": {"global": )" +
                           std::to_string(global) + "}}";
  const Scenario scenario = parse_scenario(text, "test", {}, library());
  return make_search_context(scenario, calibration_of(scenario, library()), 0);
}

std::vector<Candidate> all_candidates(const SearchContext& context, SearchSpace asked = {}) {
  const std::int64_t gpus = context.scenario.cluster.nodes * 8;
  return candidates_of(context.scenario, usual_space(context.scenario, asked, gpus), gpus);
}

/// A space of a few dozen, with every kind of choice in it.
SearchSpace small_space() {
  SearchSpace space;
  space.tensor = {2, 8};
  space.pipeline = {1, 2, 4};
  space.virtual_stages = {1, 2};
  space.micro = {1, 4};
  space.zero_stage = {0, 1};
  space.recompute = {Recompute::none, Recompute::full};
  space.sequence_parallel = {true};
  return space;
}

struct Whole {
  Plan plan;
  CostModel costs;
  Schedule schedule;
  Graph graph;
  std::int32_t steps = 1;
};

Whole whole(const SearchContext& context, const Candidate& candidate) {
  Scenario scenario = scenario_of(context, candidate);
  balance_partition(scenario, context.topology, context.calibration);
  Findings notes;
  Whole all{make_plan(scenario), {}, {}, {}, 1};
  all.costs = make_cost_model(all.plan, context.topology, context.calibration);
  all.schedule = lower(compute_schedule(scenario, all.plan, all.costs, context.topology, notes), all.plan);
  all.graph = make_graph(all.schedule);
  all.steps = steps_until_steady(all.schedule);
  return all;
}

/// The candidates that run and fit, timed one by one.
struct Exhaustive {
  double least_s = 1e300;
  std::int64_t fitting = 0;
};

Exhaustive time_all(const SearchContext& context, const std::vector<Candidate>& candidates,
                    const std::function<double(const Candidate&, const Judgement&)>& time) {
  Scenario scenario = context.scenario;
  ScheduleCache cache;
  Exhaustive all;
  for (const Candidate& candidate : candidates) {
    const Judgement judged = judge(context, scenario, candidate, cache);
    if (!judged.reason.empty() || !judged.fits) continue;
    CAPTURE(describe(candidate));
    all.least_s = std::min(all.least_s, time(candidate, judged));
    ++all.fitting;
  }
  return all;
}

}  // namespace

TEST_CASE("degrees of every candidate multiply to the GPUs, and no two are alike", "[search]") {
  const SearchContext context = context_of("gpt-1.7b", 4, 64);
  const std::vector<Candidate> candidates = all_candidates(context);
  CHECK(candidates.size() > 500);
  std::set<std::vector<std::string>> seen;
  for (const Candidate& candidate : candidates) {
    const ParallelSpec& parallel = candidate.parallel;
    REQUIRE(parallel.tensor * parallel.pipeline * parallel.context * parallel.data == 32);
    REQUIRE(64 % (candidate.micro * parallel.data) == 0);
    REQUIRE(seen.insert(candidate_values(candidate)).second);
  }
}

TEST_CASE("the usual search tries what makes sense for a layout, and what is asked for everywhere", "[search]") {
  const SearchContext context = context_of("gpt-1.7b", 4, 32);  // 24 blocks, a small embedding
  std::int64_t timed = 0, sharded = 0;
  for (const Candidate& each : all_candidates(context)) {
    const std::int64_t stages = each.parallel.pipeline * each.parallel.virtual_stages;
    const bool even = context.scenario.model.blocks % stages == 0;
    if (each.partition == PartitionRule::uniform) CHECK(even);
    if (each.partition == PartitionRule::time) CHECK_FALSE(even);
    if (each.zero_stage > 1) CHECK(each.parallel.pipeline == 1);
    timed += each.partition == PartitionRule::time ? 1 : 0;
    sharded += each.zero_stage > 1 ? 1 : 0;
    if (each.partition != PartitionRule::parameters || !even) continue;
    // Where blocks divide, balancing by parameters is tried only if it gives other stages.
    Scenario scenario = scenario_of(context, each);
    const std::vector<StageLayers> balanced = make_plan(scenario).stages;
    scenario.run.partition.rule = PartitionRule::uniform;
    const std::vector<StageLayers> equal = make_plan(scenario).stages;
    CHECK(std::any_of(balanced.begin(), balanced.end(), [&](const StageLayers& stage) {
      const auto i = static_cast<std::size_t>(&stage - balanced.data());
      return stage.first != equal[i].first || stage.last != equal[i].last;
    }));
  }
  CHECK(timed > 0);
  CHECK(sharded > 0);
  SearchSpace asked;
  asked.zero_stage = {2};
  asked.partition = {PartitionRule::time};
  bool even = false, pipelined = false;
  for (const Candidate& each : all_candidates(context, asked)) {
    even = even || context.scenario.model.blocks % (each.parallel.pipeline * each.parallel.virtual_stages) == 0;
    pipelined = pipelined || each.parallel.pipeline > 1;
  }
  CHECK(even);
  CHECK(pipelined);
}

TEST_CASE("the closed form and the memory of a candidate are those of its scenario", "[search]") {
  const SearchContext context = context_of("gpt-1.7b", 2, 32);
  Scenario scenario = context.scenario;
  ScheduleCache cache;
  int compared = 0;
  double bounds_s = 0, steps_s = 0;
  const std::vector<Candidate> candidates = all_candidates(context);
  for (std::size_t i = 0; i < candidates.size(); i += 7) {
    const Candidate& candidate = candidates[i];
    CAPTURE(describe(candidate));
    const Judgement judged = judge(context, scenario, candidate, cache);
    if (!judged.reason.empty()) continue;
    const Whole all = whole(context, candidate);
    const double step_s =
        estimate(all.plan, all.schedule, all.graph, all.costs, context.topology, all.steps).step_time.value;
    CHECK(closed_form_s(context, scenario, candidate, cache) == step_s);
    double peak = 0;
    for (const MemoryPeak& rank : memory_peaks(all.plan, all.schedule)) peak = std::max(peak, rank.peak.value);
    CHECK(judged.peak_memory_bytes == peak);
    CHECK(judged.bound_s <= step_s);
    bounds_s += judged.bound_s;
    steps_s += step_s;
    ++compared;
  }
  CHECK(compared > 50);
  CHECK(bounds_s > 0.6 * steps_s);  // else it would prune little
}

TEST_CASE("a candidate has what its scenario would choose for its layout, whatever the layout it began with",
          "[search]") {
  const std::string start = R"({"model": "gpt-1.7b", "cluster": {"extends": "selene", "nodes": 2}, "framework": "fsdp",
    "batch": {"global": 32, "micro": 1}, )";
  const auto read = [&](const std::string& rest) { return parse_scenario(start + rest + "}", "test", {}, library()); };
  SearchSpace asked;
  asked.pipeline = {1, 2};
  asked.zero_stage = {0, 3};
  for (const char* base :
       {R"("parallel": {"pipeline": 4}, "zero_stage": 0)", R"("parallel": {"tensor": 8}, "zero_stage": 3)",
        R"("parallel": {"tensor": 8, "pipeline": 2})"}) {
    CAPTURE(base);
    const Scenario first = read(base);
    const SearchContext context = make_search_context(first, calibration_of(first, library()), 0);
    std::set<std::pair<ShardUnit, bool>> seen;
    const std::vector<Candidate> candidates = all_candidates(context, asked);
    for (std::size_t i = 0; i < candidates.size(); i += 19) {  // coprime to the choices of every setting
      const RunSpec found = scenario_of(context, candidates[i]).run;
      const RunSpec wanted =
          read(fmt::format(R"("parallel": {{"tensor": {}, "pipeline": {}, "virtual_stages": {}}}, "zero_stage": {})",
                           found.parallel.tensor, found.parallel.pipeline, found.parallel.virtual_stages,
                           found.zero_stage))
              .run;
      if (wanted.parallel.data != found.parallel.data) continue;  // a part of it is context parallel
      CHECK(found.sharding.unit == wanted.sharding.unit);
      CHECK(found.overlap.gradient_reduce == wanted.overlap.gradient_reduce);
      CHECK(found.overlap.parameter_gather == wanted.overlap.parameter_gather);
      seen.emplace(found.sharding.unit, found.overlap.parameter_gather);
    }
    CHECK(seen.size() == 4);
    // What the scenario names stays.
    const Scenario named =
        read(std::string(base) + R"(, "sharding": {"unit": "stage"}, "overlap": {"gradient_reduce": false})");
    const SearchContext fixed = make_search_context(named, calibration_of(named, library()), 0);
    for (const Candidate& candidate : all_candidates(fixed, asked)) {
      const RunSpec found = scenario_of(fixed, candidate).run;
      CHECK(found.sharding.unit == ShardUnit::stage);
      CHECK_FALSE(found.overlap.gradient_reduce);
    }
  }
}

TEST_CASE("a search finds what timing every candidate finds, for any number of threads", "[search]") {
  const SearchContext context = context_of("gpt-3.6b", 2, 32);
  const std::vector<Candidate> candidates = all_candidates(context);
  Scenario scenario = context.scenario;
  ScheduleCache cache;
  const Exhaustive all = time_all(context, candidates, [&](const Candidate& candidate, const Judgement&) {
    return closed_form_s(context, scenario, candidate, cache);
  });
  SearchOptions options;
  options.keep = 3;
  options.most_simulations = 0;
  const SearchResult one = search(context, candidates, options, nullptr);
  options.threads = 3;
  const SearchResult three = search(context, candidates, options, nullptr);
  CHECK(step_seconds(one.ranking.front()) == all.least_s);
  CHECK(one.timed < all.fitting);  // something is pruned
  CHECK(one.timed + static_cast<std::int64_t>(one.pruned.size()) == all.fitting);
  REQUIRE(one.ranking.size() == three.ranking.size());
  for (std::size_t i = 0; i < one.ranking.size(); ++i)
    CHECK(one.ranking[i].point.number == three.ranking[i].point.number);
}

TEST_CASE("the front of time and memory is that of all candidates", "[search]") {
  const SearchContext context = context_of("gpt-1.7b", 2, 32);
  const std::vector<Candidate> candidates = all_candidates(context, small_space());
  SearchOptions options;
  options.objectives = {"tokens_per_s", "peak_memory_bytes"};
  options.keep = 1;
  options.most_simulations = 0;
  const SearchResult found = search(context, candidates, options, nullptr);

  std::vector<Point> points;
  Scenario scenario = context.scenario;
  ScheduleCache cache;
  for (const Candidate& candidate : candidates) {
    const Judgement judged = judge(context, scenario, candidate, cache);
    if (!judged.reason.empty() || !judged.fits) continue;
    points.emplace_back();
    points.back().figures = figures_at(judged, candidate, closed_form_s(context, scenario, candidate, cache));
  }
  const auto objectives = objectives_of(options.objectives);
  mark_front(points, objectives);
  std::set<std::pair<double, double>> all, ours;
  for (const Point& point : points)
    if (point.on_front) all.insert({point.figures.tokens_per_s, point.figures.peak_memory_bytes});
  for (const Ranked& ranked : found.front)
    ours.insert({ranked.point.figures.tokens_per_s, ranked.point.figures.peak_memory_bytes});
  CHECK(all.size() > 1);
  CHECK(all == ours);
}

TEST_CASE("the winner has a reason for every setting that has a choice", "[search]") {
  const SearchContext context = context_of("gpt-3.6b", 2, 32);
  SearchOptions options;
  options.most_simulations = 0;
  const SearchResult found = search(context, all_candidates(context, small_space()), options, nullptr);
  REQUIRE_FALSE(found.ranking.empty());
  const auto reasons = explain_winner(found, context.scenario);
  REQUIRE_FALSE(reasons.empty());
  CHECK(reasons.front().path == "parallel.tensor");
  CHECK_THAT(winner_paragraph(found, context.scenario), Catch::Contains("% longer") && Catch::Contains("PP "));
  const auto lines = sensitivities(context, found, options);
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].step_of_first_s > lines[1].step_of_first_s);  // 10 % less bandwidth, 10 % more
  CHECK(lines[2].step_of_first_s > lines[3].step_of_first_s);
}

#ifdef STAGECRAFT_HAVE_SIM
namespace {

double simulated(const SearchContext& context, const Candidate& candidate, bool folded = true) {
  const Whole all = whole(context, candidate);
  SimulationOptions how;
  how.folded = folded;
  how.steps = all.steps;
  return summarise(simulate(all.plan, all.schedule, all.graph, all.costs, context.topology, how), all.schedule)
      .summary.step_s;
}

}  // namespace

TEST_CASE("no simulation beats the bound, and the winner is that of simulating everything", "[search]") {
  const std::string model = GENERATE("gpt-1.7b", "gpt-3.6b");
  const std::int64_t nodes = GENERATE(1, 2);
  CAPTURE(model, nodes);
  const SearchContext context = context_of(model, nodes, 32);
  const std::vector<Candidate> candidates = all_candidates(context, small_space());
  const Exhaustive all = time_all(context, candidates, [&](const Candidate& candidate, const Judgement& judged) {
    const double step_s = simulated(context, candidate);
    CHECK(judged.bound_s <= step_s * (1 + 1e-12));
    return step_s;
  });
  REQUIRE(all.fitting > 8);
  SearchOptions options;
  options.keep = 2;
  options.most_simulations = 1000;
  const SearchResult found =
      search(context, candidates, options, [&](const Candidate& each) { return simulated(context, each); });
  REQUIRE_FALSE(found.ranking.empty());
  CHECK(found.proved);
  CHECK(found.simulated < all.fitting);
  CHECK(step_seconds(found.ranking.front()) == Approx(all.least_s).epsilon(1e-12));
}

// Replicas share NICs wherever a node holds several of them, so folded ranks meet on links here.
TEST_CASE("folded replicas take the time of all replicas, whatever the layout", "[search]") {
  const SearchContext context = context_of("gpt-1.7b", 2, 32);
  Scenario scenario = context.scenario;
  ScheduleCache cache;
  int compared = 0;
  SearchSpace space = small_space();
  space.recompute = {Recompute::full};
  for (const Candidate& candidate : all_candidates(context, space)) {
    const Judgement judged = judge(context, scenario, candidate, cache);
    if (!judged.reason.empty() || candidate.parallel.data == 1) continue;
    CAPTURE(describe(candidate));
    CHECK(simulated(context, candidate) == Approx(simulated(context, candidate, false)).epsilon(1e-6));
    ++compared;
  }
  CHECK(compared > 10);
}
#endif

TEST_CASE("a search that goes on from any part of what was found computes the rest only, and finds the same",
          "[search]") {
  const SearchContext context = context_of("gpt-1.7b", 1, 32);
  const std::vector<Candidate> candidates = all_candidates(context, small_space());
  SearchOptions options;
  options.objectives = {"tokens_per_s", "peak_memory_bytes"};
  options.most_simulations = 6;
  options.threads = 2;
  options.first_number = 1000;
  std::vector<std::string> lines;
  options.found = [&](const SearchRecord& news) {
    std::istringstream text(record_lines(news));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  };
  std::size_t simulated = 0;
  const Simulate simulate = [&](const Candidate& candidate) {  // any that says the same each time
    ++simulated;
    Scenario scenario = context.scenario;
    ScheduleCache cache;
    return 1.03 * closed_form_s(context, scenario, candidate, cache);
  };
  const auto told = [&] {
    const SearchResult result = search(context, candidates, options, simulate);
    std::string text = std::to_string(result.timed) + " " + std::to_string(result.simulated) + "\n";
    for (const auto* group : {&result.ranking, &result.front, &result.pruned, &result.infeasible, &result.too_large})
      for (const Ranked& ranked : *group) text += point_line(ranked.point) + "\n";
    return text;
  };
  const std::string expected = told();
  const std::vector<std::string> whole = lines;
  const std::size_t simulations = simulated;
  REQUIRE(whole.size() > candidates.size());
  REQUIRE(simulations > 1);

  for (const std::size_t kept :
       {std::size_t{0}, candidates.size() / 2, candidates.size() + 3, whole.size() - 1, whole.size()}) {
    CAPTURE(kept, whole.size());
    SearchRecord known;
    for (std::size_t i = 0; i < kept; ++i) read_record_line(whole[i], "test", known);
    options.known = &known;
    lines.clear();
    simulated = 0;
    CHECK(told() == expected);
    CHECK(lines.size() == whole.size() - kept);
    CHECK(simulated == simulations - known.simulated_s.size());
  }
}

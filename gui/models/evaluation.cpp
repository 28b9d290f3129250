#include "gui/models/evaluation.hpp"

#include <algorithm>
#include <chrono>

#include "base/refusal.hpp"
#include "cost/calibration.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/estimated_trace.hpp"
#include "estimate/memory_counters.hpp"
#include "estimate/staleness.hpp"
#include "estimate/steady_state.hpp"
#include "report/make_report.hpp"
#include "schedule/check.hpp"
#include "schedule/lower.hpp"

namespace stagecraft::gui {
namespace {

void append(Findings& findings, const Findings& more) {
  findings.insert(findings.end(), more.begin(), more.end());
}

Report make(const Scenario& scenario, const WorkedOut& done, const Findings& findings, const Trace& trace) {
  const SteadySummary told = summarise(trace, done.schedule);
  return make_report({scenario, done.topology, done.plan, done.schedule, done.graph, done.costs, done.closed_form,
                      trace, told.summary, done.memory, findings});
}

// The same steps as rehearse() of the command line, without the simulation.
void work_out(Evaluation& evaluation, const Library& library, const std::atomic<bool>& cancel) {
  Scenario scenario = *evaluation.scenario;
  append(evaluation.findings, check_feasible(scenario));
  if (has_errors(evaluation.findings) || cancel) return;

  Topology topology = build_topology(scenario.cluster);
  const Calibration calibration = calibration_of(scenario, library);
  balance_partition(scenario, topology, calibration);
  Plan plan = make_plan(scenario);
  CostModel costs = make_cost_model(plan, topology, calibration);
  Schedule schedule = lower(compute_schedule(scenario, plan, costs, topology, evaluation.findings), plan);
  const Findings proof = check_schedule(schedule);
  append(evaluation.findings, proof);
  if (has_errors(proof) || cancel) return;

  Graph graph = make_graph(schedule);
  const std::int32_t steps = std::max(static_cast<std::int32_t>(plan.run.steps), steps_until_steady(schedule));
  Estimate closed_form = estimate(plan, schedule, graph, costs, topology, steps);
  Trace trace = to_trace(closed_form, plan, schedule, graph, topology);
  trace.producer = "stagecraft-gui " STAGECRAFT_VERSION;
  trace.scenario = scenario.name;
  trace.kind = "estimated";
  if (cancel) return;
  std::vector<MemoryPeak> memory = memory_peaks(plan, schedule);
  note_staleness(schedule, summarise(trace, schedule).cold, evaluation.findings);
  auto done = std::make_unique<WorkedOut>(WorkedOut{std::move(topology), std::move(plan), std::move(costs),
                                                    std::move(schedule), std::move(graph), std::move(closed_form),
                                                    std::move(memory), Report{}, std::move(trace), nullptr});
  done->report = make(scenario, *done, evaluation.findings, done->trace);
  evaluation.done = std::move(done);
}

}  // namespace

Evaluation evaluate(const std::string& text, const std::string& path, const Library& library,
                    const std::atomic<bool>* cancel) {
  const auto begin = std::chrono::steady_clock::now();
  const std::atomic<bool> never = false;
  Evaluation evaluation;
  try {
    evaluation.scenario = parse_scenario(text, path, {}, library);
    work_out(evaluation, library, cancel == nullptr ? never : *cancel);
  } catch (const Refusal& refusal) {
    append(evaluation.findings, refusal.findings());
  } catch (const InputError& error) {
    evaluation.problems = error.problems();
  } catch (const std::bad_alloc&) {
    evaluation.problems = {
        {path, 0, 0, "", "a scenario that does not fit into this machine's memory", "a smaller one", ""}};
  } catch (const std::exception& error) {
    evaluation.problems = {{path, 0, 0, "", error.what(), "a scenario that can be worked out", ""}};
  }
  evaluation.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return evaluation;
}

std::unique_ptr<const LoadedTrace> load(const WorkedOut& done, Trace trace, const std::atomic<bool>& cancel) {
  add_memory_counters(trace, done.plan, done.schedule);
  std::string name = trace.scenario;
  return make_loaded_trace(std::move(trace), std::move(name), memory_limit_bytes(done), &cancel);
}

double memory_limit_bytes(const WorkedOut& done) {
  return done.memory.empty() ? 0 : done.memory.front().limit.value;
}

Report report_of(const Evaluation& evaluation, const Trace& trace) {
  return make(*evaluation.scenario, *evaluation.done, evaluation.findings, trace);
}

}  // namespace stagecraft::gui

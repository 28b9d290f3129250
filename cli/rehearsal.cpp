#include "rehearsal.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/refusal.hpp"
#include "calibration_files.hpp"
#include "command_line.hpp"
#include "estimate/estimated_trace.hpp"
#include "estimate/memory_counters.hpp"
#include "estimate/staleness.hpp"
#include "estimate/steady_state.hpp"
#include "fault_costs.hpp"
#include "planned.hpp"
#include "report/make_report.hpp"
#include "schedule/check.hpp"
#ifdef STAGECRAFT_HAVE_SIM
#include "sim/simulate.hpp"
#endif

namespace stagecraft::cli {
namespace {

/// The timeline of the steps, by simulation or from the closed form.
Trace play(const RehearsalOptions& options, const Estimate& closed_form, const Plan& plan, const Schedule& schedule,
           const Graph& graph, const CostModel& costs, const Topology& topology) {
  if (options.estimate) return to_trace(closed_form, plan, schedule, graph, topology);
#ifdef STAGECRAFT_HAVE_SIM
  SimulationOptions how;
  how.steps = static_cast<std::int32_t>(closed_form.steps.size());
  how.link_counters = options.counters;
  return simulate(plan, schedule, graph, costs, topology, how);
#else
  (void)costs;
  throw UsageError("this program was built without SimGrid and cannot simulate; add --estimate for the closed form");
#endif
}

#ifdef STAGECRAFT_HAVE_SIM
/// Refuses jobs whose routes would take minutes to walk.
Findings check_walk(const Plan& plan, const Topology& topology) {
  const std::int64_t ranks = walked_ranks(plan, topology);
  if (ranks <= most_walked_ranks) return {};
  return {{Severity::error, "too-many-routes", "/parallel",
           fmt::format("{} ranks each take links of their own; the routes of at most {} are simulated; the closed form "
                       "(--estimate) has no such limit",
                       ranks, most_walked_ranks),
           ""}};
}
#endif

/// What faults cost: each alone in closed form, all together as played; and whether replicas were folded.
void note_faults(const RehearsalOptions& options, const Scenario& scenario, const Plan& plan, const Schedule& schedule,
                 const Graph& graph, const CostModel& costs, const Topology& topology, const Trace& trace,
                 std::int32_t steps, Findings& findings) {
#ifdef STAGECRAFT_HAVE_SIM
  const Folding folding = folding_of(plan, graph, topology, steps);
  if (!options.estimate && !folding.note.empty())
    findings.push_back({Severity::note, "folding", "/cluster", folding.note, ""});
#endif
  if (scenario.cluster.faults.empty()) return;
  const Findings each = fault_costs(scenario, plan, schedule, graph, costs.calibration, steps);
  findings.insert(findings.end(), each.begin(), each.end());
  ClusterSpec cluster = scenario.cluster;
  cluster.faults.clear();
  const Topology sound = build_topology(cluster);
  const CostModel sound_costs = make_cost_model(plan, sound, costs.calibration);
  const Estimate closed_form = estimate(plan, schedule, graph, sound_costs, sound, steps);
  RehearsalOptions how = options;
  how.counters = false;
  const double without = play(how, closed_form, plan, schedule, graph, sound_costs, sound).end_s;
  findings.push_back({Severity::note, "faults", "/cluster/faults",
                      fmt::format("all faults together: {} instead of {} ({:+.1f} %)", to_text(Seconds{trace.end_s}),
                                  to_text(Seconds{without}), 100 * (trace.end_s / without - 1)),
                      ""});
}

void sign(Trace& trace, const Scenario& scenario, const RehearsalOptions& options, const Calibration& calibration) {
  trace.producer = "stagecraft " STAGECRAFT_VERSION;
  trace.scenario = scenario.name;
  trace.kind = options.estimate ? "estimated" : "predicted";
  std::vector<Provenance> from = {
      {"calibration", calibration.name}, {"cluster", scenario.cluster.name}, {"model", scenario.model.name}};
  for (const std::string& override_ : options.overrides) from.push_back({"set", override_});
  trace.provenance.insert(trace.provenance.begin(), from.begin(), from.end());
}

/// Everything that was read: the scenario's files and those of its calibration.
std::vector<std::string> files_of(const Scenario& scenario, const Library& library) {
  std::vector<std::string> files = scenario.files;
  const std::vector<std::string> more = calibration_files(scenario, library);
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

}  // namespace

// The map of the whole program: what is read, what is derived from it, and in which order.
Rehearsal rehearse(const RehearsalOptions& options, const Console& console) {
  // load, plan
  const Library library = default_library(console.executable);
  Planned planned = plan_scenario(options.file, options.overrides, library);
  const auto& [scenario, noted, topology, plan, costs] = planned;

#ifdef STAGECRAFT_HAVE_SIM
  if (!options.estimate) refuse_errors(scenario.path, check_walk(plan, topology));
#endif

  // build, lower, check
  const Schedule schedule = lowered_schedule(planned);
  Findings findings = noted;
  const Findings proof = check_schedule(schedule);
  refuse_errors(scenario.path, proof);
  findings.insert(findings.end(), proof.begin(), proof.end());
  const Graph graph = make_graph(schedule);

  // simulate
  const std::int32_t steps = std::max(static_cast<std::int32_t>(plan.run.steps), steps_until_steady(schedule));
  const Estimate closed_form = estimate(plan, schedule, graph, costs, topology, steps);
  Trace trace = play(options, closed_form, plan, schedule, graph, costs, topology);
  note_faults(options, scenario, plan, schedule, graph, costs, topology, trace, steps, findings);
  sign(trace, scenario, options, costs.calibration);
  if (options.counters) add_memory_counters(trace, plan, schedule);

  // summarise
  const std::vector<MemoryPeak> memory = memory_peaks(plan, schedule);
  const SteadySummary told = summarise(trace, schedule);
  note_staleness(schedule, told.cold, findings);
  Report report = make_report(
      {scenario, topology, plan, schedule, graph, costs, closed_form, trace, told.summary, memory, findings});
  return {std::move(report), std::move(trace), files_of(scenario, library)};
}

}  // namespace stagecraft::cli

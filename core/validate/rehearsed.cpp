#include "validate/rehearsed.hpp"

#include "base/input_error.hpp"
#include "estimate/stage_durations.hpp"
#include "schedule/family.hpp"
#include "schedule/flushes.hpp"
#include "schedule/lower.hpp"
#include "validate/bubble.hpp"

namespace stagecraft {
namespace {

/// A zero-bubble run overlaps the end of a step with the start of the next (arXiv 2401.10241, section 4).
Schedule generated(const FamilyEntry& entry, const ScheduleRequest& request) {
  Schedule schedule = generate_with_flushes(entry, request);
  if (std::string_view(entry.name).starts_with("zb")) schedule.optimizer_sync = OptimizerSync::post_validation;
  return schedule;
}

}  // namespace

Rehearsed rehearse(const Record& record, const Scenario& scenario, const Mapping& mapping, const Library& library) {
  Rehearsed run;
  run.plan = make_plan(scenario);
  run.topology = build_topology(scenario.cluster);
  if (mapping.no_step_time.empty()) {
    run.costs = make_cost_model(run.plan, run.topology, calibration_of(scenario, library));
  }
  ScheduleRequest request =
      request_of(run.plan.run.schedule, {run.plan.degrees.pipeline, run.plan.micro_batches,
                                         static_cast<std::int32_t>(run.plan.run.parallel.virtual_stages)});
  if (run.costs) request.times = stage_durations(run.plan, *run.costs, run.topology);
  // The run itself searched its schedule with the times that it profiled.
  if (const auto& profile = record.measured.profile; profile && run.plan.run.schedule.memory_limit.has_value()) {
    request.times = stage_times_of(*profile);
  }
  request.kept_until_weight_grad = kept_until_weight_grad(record.model);
  const FamilyEntry* entry = find_schedule(run.plan.run.schedule.name);
  const Findings refused = refuse_with_flushes(*entry, request);
  for (const Finding& finding : refused) {
    if (finding.severity != Severity::error) continue;
    throw InputError(InputProblem{scenario.name, 0, 0, finding.pointer, "", finding.message, finding.nearest});
  }
  run.schedule = lower(generated(*entry, request), run.plan);
  return run;
}

}  // namespace stagecraft

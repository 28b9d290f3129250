#include "estimate/compute_schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/input_error.hpp"
#include "base/refusal.hpp"
#include "estimate/stage_durations.hpp"
#include "schedule/check.hpp"
#include "schedule/csv_text.hpp"
#include "schedule/family.hpp"
#include "schedule/flushes.hpp"

namespace stagecraft {
namespace {

const FamilyEntry& entry_of(const Scenario& scenario) {
  const std::string& name = scenario.run.schedule.name;
  if (const FamilyEntry* entry = find_schedule(name)) return *entry;
  std::vector<std::string> names;
  for (const std::string_view known : schedule_names()) names.emplace_back(known);
  throw InputError(InputProblem{scenario.path, 0, 0, "/schedule", name,
                                "a schedule; `stagecraft schedule --list` names them", nearest_word(name, names)});
}

void drop_communication(Schedule& schedule, const std::string& path, Findings& findings) {
  std::size_t dropped = 0;
  for (auto& program : schedule.programs) {
    dropped += std::erase_if(program, [](const Op& op) { return !is_compute(op.kind); });
  }
  schedule.lowered = false;
  if (dropped == 0) return;
  findings.push_back(
      {Severity::note, "communication-placed-anew", "/schedule/csv",
       fmt::format("{} communication cells of {} are placed anew by the scenario's policies", dropped, path), ""});
}

/// The table must have the shape of the plan.
void check_shape(const Scenario& scenario, const Plan& plan, const Schedule& schedule) {
  Findings findings;
  const auto expect = [&](const char* code, const char* pointer, const char* what, std::int64_t found,
                          std::int64_t wanted) {
    if (found == wanted) return;
    findings.push_back({Severity::error, code, pointer,
                        fmt::format("the table has {} {}, the layout {}", found, what, wanted),
                        fmt::format("{}", found)});
  };
  expect("csv-ranks", "/parallel/pipeline", "ranks", schedule.shape.ranks, plan.degrees.pipeline);
  expect("csv-stages", "/parallel/virtual_stages", "stages", stage_count(schedule),
         static_cast<std::int64_t>(plan.stages.size()));
  expect("csv-micro-batches", "/batch/global", "micro-batches", schedule.shape.micro_batches, plan.micro_batches);
  refuse_errors(scenario.path, findings);
}

Schedule from_csv(const Scenario& scenario, const Plan& plan, Findings& findings) {
  CsvOptions options;
  options.file = scenario.run.schedule.csv;
  Schedule schedule = load_csv_schedule(options.file, options);
  drop_communication(schedule, options.file, findings);
  refuse_errors(options.file, check_schedule(schedule));
  check_shape(scenario, plan, schedule);
  return schedule;
}

}  // namespace

Schedule compute_schedule(const Scenario& scenario, const Plan& plan, const CostModel& costs, const Topology& topology,
                          Findings& findings) {
  const ScheduleSpec& spec = plan.run.schedule;
  if (!spec.csv.empty()) return from_csv(scenario, plan, findings);
  ScheduleRequest request = request_of(
      spec, {plan.degrees.pipeline, plan.micro_batches, static_cast<std::int32_t>(plan.run.parallel.virtual_stages)});
  request.flushes = drains_of(plan.run);
  request.times = stage_durations(plan, costs, topology);
  const FamilyEntry& entry = entry_of(scenario);
  refuse_errors(scenario.path, refuse_with_flushes(entry, request));
  Schedule schedule = generate_with_flushes(entry, request);
  if (schedule.placement.size() > 1 && plan.run.overlap.gradient_reduce) {
    findings.push_back(
        {Severity::note, "no-effect", "/overlap/gradient_reduce",
         fmt::format("this setting changes nothing here: {} adds up both copies of a stage after its last "
                     "backward, so reductions wait for the end",
                     entry.name),
         "false"});
  }
  return schedule;
}

}  // namespace stagecraft

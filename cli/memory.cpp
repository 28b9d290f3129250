#include <algorithm>

#include "base/refusal.hpp"
#include "base/units.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "memory_report.hpp"
#include "plan/plan.hpp"
#include "planned.hpp"
#include "schedule/check.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

MeasuredMemory measured_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string kind = word.substr(0, equals);
  if (equals == std::string::npos || (kind != "allocated" && kind != "reserved" && kind != "device")) {
    throw UsageError("--measured takes allocated=BYTES, reserved=BYTES or device=BYTES, not \"" + word + "\"");
  }
  const ParsedQuantity bytes = parse_quantity(word.substr(equals + 1), Dimension::bytes);
  if (!bytes.ok || bytes.value <= 0) {
    throw UsageError("--measured needs an amount with its unit, such as \"allocated=61.2 GiB\": " +
                     (bytes.ok ? "it must be above 0" : bytes.problem));
  }
  return {kind, {bytes.value}};
}

MemoryFindings find_out(const std::string& file, const std::vector<std::string>& overrides, const Library& library) {
  MemoryFindings found;
  Planned planned = plan_scenario(file, overrides, library);
  const auto& [scenario, findings, topology, plan, costs] = planned;
  const Schedule schedule = lowered_schedule(planned);
  refuse_errors(scenario.path, check_schedule(schedule));
  found.scenario = scenario.name;
  found.findings = findings;
  found.peaks = memory_peaks(plan, schedule);
  for (std::size_t r = 0; r < found.peaks.size(); ++r) {
    found.peak_ops.push_back(schedule.programs[r][found.peaks[r].peak_op]);
    found.fits = found.fits && fits(found.peaks[r]);
    if (found.peaks[r].peak > found.peaks[found.fullest].peak) found.fullest = r;
  }
  const MemoryPeak& fullest = found.peaks[found.fullest];
  found.view = allocator_view(plan, fullest);
  found.verdict = verdict_of(found.view, fullest.limit);
  found.explanation = explain_peak(plan, schedule, PipelineRank(found.fullest));
  found.fixed = fixed_lines(plan);
  found.host = host_memory(plan, schedule, scenario.cluster);
  found.fits = found.fits && found.host.fits();
  return found;
}

}  // namespace

int run_memory(const Words& words, const Console& console) {
  std::string file, format, output;
  std::vector<std::string> overrides, measured;
  bool no_advice = false;
  const auto app =
      make_app("memory", "Shows what fills each GPU and whether it fits, without simulating time.",
               {{"memory scenarios/gpt-145b-selene.json", "per rank and class, the peak explained tensor by tensor"},
                {"memory my.json --set batch.micro=4", "if it does not fit: the single changes that make it fit"},
                {"memory my.json --measured \"allocated=61.2 GiB\"", "what a measurement leaves unexplained"},
                {"memory my.json --format json", "for programs"}});
  app->add_option("FILE", file, "A scenario")->required();
  add_overrides(*app, overrides);
  app->add_option("--measured", measured, "A reading to compare with: allocated=, reserved= or device=BYTES")
      ->type_name("KIND=BYTES")
      ->allow_extra_args(false);
  app->add_flag("--no-advice", no_advice, "Do not look for changes that make it fit");
  add_format(*app, format, {"text", "json"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  const Library library = default_library(console.executable);
  std::vector<MeasuredMemory> readings;
  for (const std::string& word : measured) readings.push_back(measured_of(word));
  MemoryFindings found = find_out(file, overrides, library);
  found.measured = readings;
  if (!found.fits && !no_advice) found.advice = advise(file, overrides, library);
  write_output(console, output, format == "json" ? memory_json(found) : memory_text(found));
  return found.fits ? ok : does_not_fit;
}

}  // namespace stagecraft::cli

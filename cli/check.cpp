#include "schedule/check.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/refusal.hpp"
#include "calibration_files.hpp"
#include "command_line.hpp"
#include "estimate/balance.hpp"
#include "estimate/compute_schedule.hpp"
#include "exit_code.hpp"
#include "memory/timeline.hpp"
#include "plan/plan.hpp"
#include "report/number_text.hpp"
#include "schedule/executable.hpp"
#include "schedule/lower.hpp"
#include "spec/scenario.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

struct Verdict {
  Scenario scenario;
  Findings findings;
  Findings refused;                // why the executor can't run it; empty: it can
  std::vector<std::string> files;  // that were read
  bool fits = true;
  double peak_bytes = 0, limit_bytes = 0;
  std::size_t fullest = 0, operations = 0;  // of the schedule, once the layout is feasible
};

void judge_schedule_and_memory(Verdict& verdict, const Library& library) {
  const Topology topology = build_topology(verdict.scenario.cluster);
  const Calibration calibration = calibration_of(verdict.scenario, library);
  balance_partition(verdict.scenario, topology, calibration);
  const Plan plan = make_plan(verdict.scenario);
  const CostModel costs = make_cost_model(plan, topology, calibration);
  for (const std::string& file : calibration_files(verdict.scenario, library)) verdict.files.push_back(file);
  const Schedule schedule = lower(compute_schedule(verdict.scenario, plan, costs, topology, verdict.findings), plan);
  const Findings proof = check_schedule(schedule);
  verdict.findings.insert(verdict.findings.end(), proof.begin(), proof.end());
  for (const auto& program : schedule.programs) verdict.operations += program.size();
  if (has_errors(proof)) return;
  verdict.refused = execution_refusals(plan, schedule, verdict.scenario.cluster.gpu.architecture == "cpu");

  const std::vector<MemoryPeak> peaks = memory_peaks(plan, schedule);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    verdict.fits = verdict.fits && fits(peaks[i]);
    if (peaks[i].peak.value <= verdict.peak_bytes) continue;
    verdict.peak_bytes = peaks[i].peak.value;
    verdict.limit_bytes = peaks[i].limit.value;
    verdict.fullest = i;
  }
}

Verdict judge(const std::string& file, const std::vector<std::string>& overrides, const Console& console) {
  const Library library = default_library(console.executable);
  Verdict verdict;
  verdict.scenario = load_scenario(file, overrides, library);
  verdict.files = verdict.scenario.files;
  verdict.findings = check_feasible(verdict.scenario);
  if (has_errors(verdict.findings)) return verdict;
  try {
    judge_schedule_and_memory(verdict, library);
  } catch (const Refusal& refusal) {
    verdict.findings.insert(verdict.findings.end(), refusal.findings().begin(), refusal.findings().end());
  }
  return verdict;
}

std::string execution_text(const Findings& refused) {
  if (refused.empty()) return "executor: can run it\n";
  std::string out = "executor: cannot run it\n";
  for (const Finding& finding : refused) out += "  " + to_text(finding) + "\n";
  return out;
}

nlohmann::ordered_json json_of(const Finding& finding) {
  const char* const severity = finding.severity == Severity::error     ? "error"
                               : finding.severity == Severity::warning ? "warning"
                                                                       : "note";
  return {{"severity", severity},
          {"code", finding.code},
          {"pointer", finding.pointer},
          {"message", finding.message},
          {"nearest", finding.nearest}};
}

std::string text_of(const Verdict& verdict) {
  std::string out;
  for (const Finding& finding : verdict.findings) out += to_text(finding) + "\n";
  if (has_errors(verdict.findings)) return out + fmt::format("{}: cannot run\n", verdict.scenario.name);
  out +=
      fmt::format("{}: layout feasible; {} operations of the schedule proved complete, matched and free of deadlock\n",
                  verdict.scenario.name, verdict.operations);
  out += fmt::format("memory: {} of {} on pipeline rank {}, {}\n", gibibytes(verdict.peak_bytes),
                     gibibytes(verdict.limit_bytes), verdict.fullest, verdict.fits ? "fits" : "does not fit");
  return out + execution_text(verdict.refused);
}

std::string json_of(const Verdict& verdict) {
  nlohmann::ordered_json root = {{"version", 1},
                                 {"scenario", verdict.scenario.name},
                                 {"feasible", !has_errors(verdict.findings)},
                                 {"fits", verdict.fits && !has_errors(verdict.findings)},
                                 {"peak_memory_bytes", verdict.peak_bytes},
                                 {"memory_limit_bytes", verdict.limit_bytes},
                                 {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& finding : verdict.findings) root["findings"].push_back(json_of(finding));
  const bool judged = !has_errors(verdict.findings);
  root["executable"] = judged && verdict.refused.empty();
  root["execution_refusals"] = nlohmann::ordered_json::array();
  for (const Finding& finding : verdict.refused) root["execution_refusals"].push_back(json_of(finding));
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_check(const Words& words, const Console& console) {
  std::string file, format, output;
  std::vector<std::string> overrides;
  const auto app = make_app(
      "check",
      "Says whether a scenario can run, with every reason at once: layout, schedule, memory; and whether the executor "
      "runs it.",
      {{"check scenarios/gpt-145b-selene.json", ""},
       {"check my.json --set parallel.tensor=7", "what would be wrong with it, and the nearest value that works"},
       {"check my.json --format json", "findings with codes and JSON pointers"}});
  app->add_option("FILE", file, "A scenario")->required();
  add_overrides(*app, overrides);
  add_format(*app, format, {"text", "json"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  keep_apart({file}, {{"--output", output}});
  const Verdict verdict = judge(file, overrides, console);
  keep_apart(verdict.files, {{"--output", output}});
  write_output(console, output, format == "json" ? json_of(verdict) : text_of(verdict));
  if (has_errors(verdict.findings)) return invalid_input;
  return verdict.fits ? ok : does_not_fit;
}

}  // namespace stagecraft::cli

#include "exec/launch/outputs.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "exec/run/support.hpp"
#include "trace/chrome_json.hpp"
#include "trace/native_format.hpp"

namespace stagecraft {

namespace {

double step_seconds(const Trace& trace, std::size_t step) {
  return trace.step_end_s[step] - (step == 0 ? trace.begin_s : trace.step_end_s[step - 1]);
}

std::string as_text(const Job& job, const JobArguments& arguments, const char* transport, const ExecuteResult& result) {
  std::string text = fmt::format("{}: {} ranks ({}), schedule {}, {} micro-batches\n", job.scenario.name,
                                 world_size(job.plan.degrees), transport, job.schedule.name, job.plan.micro_batches);
  text += fmt::format("{:>6} {:>12} {:>14} {:>12}\n", "step", "loss", "gradient norm", "time");
  const auto warmup = static_cast<std::size_t>(arguments.options.warmup);
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    const StepResult& step = result.steps[i];
    text += fmt::format("{:>6} {:>12.6f} {:>14.6g} {:>12}{}\n", i, step.loss.value_or(0), step.gradient_norm,
                        i < warmup ? "warm-up" : to_text(Seconds{step_seconds(result.trace, i - warmup)}),
                        step.skipped ? "  skipped: a gradient was not finite" : "");
  }
  if (result.clock_skew_s > 0)
    text += fmt::format("clocks of the ranks agree to {}\n", to_text(Seconds{result.clock_skew_s}));
  return text;
}

std::string as_json(const Job& job, const JobArguments& arguments, const char* transport, const ExecuteResult& result) {
  nlohmann::ordered_json document;
  document["version"] = 1;
  document["scenario"] = job.scenario.name;
  document["schedule"] = job.schedule.name;
  document["ranks"] = world_size(job.plan.degrees);
  document["transport"] = transport;
  document["clock_skew_s"] = result.clock_skew_s;
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  const auto warmup = static_cast<std::size_t>(arguments.options.warmup);
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    nlohmann::ordered_json step;
    step["loss"] = result.steps[i].loss.value_or(0);
    step["gradient_norm"] = result.steps[i].gradient_norm;
    step["skipped"] = result.steps[i].skipped;
    if (i >= warmup) step["time_s"] = step_seconds(result.trace, i - warmup);
    steps.push_back(std::move(step));
  }
  document["steps"] = std::move(steps);
  return document.dump(2) + "\n";
}

/// Devices of a job whose ranks are all on this machine: one GPU for threads, the cores for ranks on CPU. 0: not known.
std::int64_t devices_of(const JobArguments& arguments, const Job& job) {
  const bool here = arguments.in_process || !arguments.report_folder.empty();
  if (!here) return 0;
  return arguments.options.device.is_cpu() ? job.cores : 1;
}

}  // namespace

void write_trace(const JobArguments& arguments, const Job& job, Trace& trace) {
  if (arguments.trace.empty()) return;
  trace.scenario = job.scenario.name;
  const std::int64_t devices = devices_of(arguments, job);
  if (devices > 0 && devices < static_cast<std::int64_t>(trace.ranks.size()))
    trace.provenance.push_back({"shared_devices", std::to_string(devices)});
  if (arguments.trace.ends_with(".json")) {
    write_chrome_json(trace, arguments.trace);
  } else {
    write_trace(trace, arguments.trace);
  }
}

void write_results(const Job& job, const JobArguments& arguments, const char* transport, ExecuteResult& result) {
  const std::string text =
      arguments.json ? as_json(job, arguments, transport, result) : as_text(job, arguments, transport, result);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  write_trace(arguments, job, result.trace);
}

void print_findings(const Findings& findings) {
  for (const Finding& finding : findings) std::fprintf(stderr, "stagecraft-exec: %s\n", to_text(finding).c_str());
}

}  // namespace stagecraft

#include "exec/launch/preflight.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

#include "base/input_error.hpp"
#include "exec/launch/outputs.hpp"
#include "memory/timeline.hpp"

namespace stagecraft {

namespace {

void warn(Findings& findings, Severity severity, const char* code, std::string message) {
  findings.push_back({severity, code, "", std::move(message), ""});
}

void compare_host(const Job& job, std::int64_t ranks, const std::vector<MemoryPeak>& peaks, Findings& findings) {
  const std::int64_t cores = usable_cores();
  if (ranks > cores) {
    warn(findings, Severity::warning, "preflight-cores",
         fmt::format("{} ranks share {} cores: measured times are not those of ranks with a core each", ranks, cores));
  }
  double needed = 0;
  for (const MemoryPeak& peak : peaks) needed += peak.peak.value;
  needed *= static_cast<double>(ranks) / static_cast<double>(job.plan.degrees.pipeline);
  const double free = host_memory_free();
  if (free > 0 && needed > free) {
    warn(findings, Severity::error, "preflight-memory",
         fmt::format("the ranks are predicted to need {} together, the host has {} free", to_text(Bytes{needed}),
                     to_text(Bytes{free})));
  }
}

void compare_gpus(const Job& job, Rank own, std::int64_t ranks, bool in_process, const std::vector<MemoryPeak>& peaks,
                  Findings& findings) {
  const std::vector<DeviceFacts> devices = cuda_devices();
  if (devices.empty()) {
    warn(findings, Severity::error, "preflight-gpu", "no CUDA device");
    return;
  }
  const std::string& expected = gpu_spec_of(job.plan, own).name;
  if (devices.front().name.find(expected) == std::string::npos) {
    warn(findings, Severity::warning, "preflight-gpu",
         fmt::format("the scenario is for {}, the device is {}", expected, devices.front().name));
  }
  if (std::any_of(devices.begin(), devices.end(), [](const DeviceFacts& one) { return !one.peer_access; })) {
    warn(findings, Severity::warning, "preflight-links",
         "the GPUs of this machine have no peer-to-peer access to each other");
  }
  double needed = 0;
  for (const MemoryPeak& peak : peaks)
    needed = in_process ? needed + peak.peak.value : std::max(needed, peak.peak.value);
  if (in_process) needed *= static_cast<double>(ranks) / static_cast<double>(job.plan.degrees.pipeline);
  if (needed > devices.front().memory_free) {
    warn(findings, Severity::error, "preflight-memory",
         fmt::format("{} predicted to be needed, {} free on {}", to_text(Bytes{needed}),
                     to_text(Bytes{devices.front().memory_free}), devices.front().name));
  }
}

}  // namespace

#ifndef STAGECRAFT_HAVE_CUDA
std::vector<DeviceFacts> cuda_devices() {
  return {};
}
#endif

std::int64_t usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

double host_memory_free() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double value = 0;
  while (file >> key >> value >> unit) {
    if (key == "MemAvailable:") return value * 1024;
  }
  return 0;
}

Findings compare_machine(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment) {
  Findings findings;
  const std::vector<MemoryPeak> peaks = memory_peaks(job.plan, job.schedule);
  const std::int64_t ranks = world_size(job.plan.degrees);
  if (arguments.options.device.is_cpu()) {
    if (environment.launcher == Launcher::none || environment.rank == 0) compare_host(job, ranks, peaks, findings);
  } else {
    compare_gpus(job, Rank(environment.rank), ranks, arguments.in_process, peaks, findings);
  }
  return findings;
}

void preflight(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment) {
  // Ranks that a local launch has started were looked at by their launcher.
  if (!arguments.report_folder.empty()) return;
  const Findings findings = compare_machine(job, arguments, environment);
  if (environment.rank == 0) print_findings(findings);
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::error) {
      throw InputError(InputProblem{"preflight", 0, 0, "", finding.message, "a machine that the scenario fits", ""});
    }
  }
}

}  // namespace stagecraft

#pragma once
// Everything that the ranks of a job share, loaded once per process.

#include <memory>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "exec/run/options.hpp"
#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

struct JobArguments {
  std::string scenario;                // path or name
  std::vector<std::string> overrides;  // --set
  std::string schedule;                // lowered, in the JSON form of schedule/json_text.hpp
  std::string schedule_hash;           // what the file's hash must be; "" to skip
  std::string expected_version;        // of this program; "" to skip
  std::string executable;              // argv[0], to find the library of scenarios
  ExecuteOptions options;
  double timeout_s = 60;
  bool in_process = false;
  bool pin = false;           // rank r runs on the r-th core that this process may use
  std::string trace;          // where the trace goes: Chrome JSON if it ends in .json, else the native format
  std::string profile;        // where a calibration goes that is measured in turn with the steps; "": none
  bool json = false;          // results on stdout as JSON
  std::string report_folder;  // where ranks leave their failure reports for the launcher
  bool on_terminal = false;   // the launcher's standard error is one, if not this process's
};

struct Job {
  Scenario scenario;
  Plan plan;
  Schedule schedule;
  Graph graph;
  Findings findings;       // notes and warnings for the user
  std::int64_t cores = 0;  // that the process could use before any rank was pinned
};

/// Loads and proves. Throws InputError for bad input; has_errors(job.findings) if it can't be executed.
std::unique_ptr<Job> load_job(const JobArguments& arguments);

/// As --drill takes it.
std::string to_text(const Drill& drill);

/// FNV-1a of a schedule file's bytes, 16 hexadecimal digits.
std::string content_hash(const std::string& bytes);

}  // namespace stagecraft

#pragma once
// One training step, from a scenario file to a report.

#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "report/report.hpp"
#include "trace/trace.hpp"

namespace stagecraft::cli {

struct RehearsalOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool estimate = false;  // closed form instead of simulation
  bool counters = false;  // of memory and of shared links, in the trace
};

struct Rehearsal {
  Report report;
  Trace trace;
  std::vector<std::string> files;  // that were read
};

/// Throws InputError or a Refusal if the scenario is malformed or cannot run. One that does not fit in memory is
/// rehearsed all the same: report.fits is false.
Rehearsal rehearse(const RehearsalOptions& options, const Console& console);

}  // namespace stagecraft::cli

#pragma once
// What is behind a number of the report: its meaning, its formula, the values that went in and where they come from.

#include <string>
#include <vector>

#include "report/report.hpp"

namespace stagecraft {

/// Paths that can be explained, in the order of the report ("step_time_s", "stages[].peak_memory_bytes", ...).
std::vector<std::string> explainable_keys();

struct ExplainedInput {
  std::string path, origin, value, meaning;  // origin: "scenario", "computed", ...
};

/// The same in pieces, for a view of its own.
struct Explanation {
  std::string key, value, low, high, evidence;  // low, high and evidence: of a figure with an interval, else empty
  std::string meaning, formula;                 // formula: empty for what is an input itself
  std::vector<ExplainedInput> inputs;
  std::string source;  // "predicted run of scenarios/x.json by stagecraft 0.1.0, calibration a100"
};

/// Meaning and formula of a key. `key` may name one entry of a list ("stages.3.peak_memory_bytes") or all of them.
/// Throws InputError with the nearest key if there is none of that name.
std::string explain(const std::string& key);

/// The same with the values of `report`.
std::string explain(const std::string& key, const Report& report);
Explanation explanation(const std::string& key, const Report& report);

}  // namespace stagecraft

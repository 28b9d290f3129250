#pragma once
// What is behind a number of the report: its meaning, its formula, the values that went in and where they come from.

#include <string>
#include <vector>

#include "report/report.hpp"

namespace stagecraft {

/// Paths that can be explained, in the order of the report ("step_time_s", "stages[].peak_memory_bytes", ...).
std::vector<std::string> explainable_keys();

/// Meaning and formula of a key. `key` may name one entry of a list ("stages.3.peak_memory_bytes") or all of them.
/// Throws InputError with the nearest key if there is none of that name.
std::string explain(const std::string& key);

/// The same with the values of `report`.
std::string explain(const std::string& key, const Report& report);

}  // namespace stagecraft

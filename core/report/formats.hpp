#pragma once
// A report in the forms that `--format` offers. docs/report.md describes the keys and their units.

#include <string>

#include "report/report.hpp"

namespace stagecraft {

/// For a terminal of 100 columns. `colour` adds ANSI sequences and nothing else.
std::string to_text(const Report& report, bool colour);

/// One object; valid against report_schema_text(), keys in a fixed order.
std::string to_json(const Report& report);

/// "key,value": every number and text of the JSON form, one a line, keys joined with dots
/// ("stages.0.peak_memory_bytes").
std::string to_csv(const Report& report);

/// Tables for an issue or a wiki.
std::string to_markdown(const Report& report);

}  // namespace stagecraft

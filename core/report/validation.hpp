#pragma once
// Predictions held against measurements, for people and programs.

#include <string>

#include "validate/validate.hpp"

namespace stagecraft {

/// Groups as a table, layout sets, what was inferred and what was left out with its reason.
std::string to_text(const Validation& validation);

/// One object: "groups" (name, n, step_time, memory, oom, bubble, spearman, regret), "records" (id, step_time, memory,
/// bubble, oom; each predicted, measured, error, or null), "sets", "unmapped" (id, quantity, reason), "inferred" (id,
/// pointer, value, reason), "coverage". Errors are fractions.
std::string to_json(const Validation& validation);

/// A page: the tables of the text form.
std::string to_markdown(const Validation& validation);

/// Predicted over measured step times on logarithmic axes, a colour per group.
std::string scatter_svg(const Validation& validation);

/// What one record became: the scenario, what was inferred, and the comparison.
std::string to_text(const Outcome& outcome);

}  // namespace stagecraft

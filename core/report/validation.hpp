#pragma once
// Predictions held against measurements, for people and programs.

#include <string>

#include "validate/leave_one_out.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

using HeldOut = std::vector<HeldOutGroup>;

/// Groups as a table, layout sets, what was inferred and what was left out with its reason.
std::string to_text(const Validation& validation, const HeldOut& held_out = {});

/// One object: "groups" (name, n, step_time, memory, oom, bubble, spearman, regret), "records" (id, step_time, memory,
/// bubble, oom; each predicted, measured, error, or null), "sets", "unmapped" (id, quantity, reason), "inferred" (id,
/// pointer, value, reason), "coverage", "held_out". Errors are fractions.
std::string to_json(const Validation& validation, const HeldOut& held_out = {});

/// A page: the tables of the text form.
std::string to_markdown(const Validation& validation, const HeldOut& held_out = {});

/// Predicted over measured step times on logarithmic axes, a colour per group.
std::string scatter_svg(const Validation& validation);

/// What one record became: the scenario, what was inferred, and the comparison.
std::string to_text(const Outcome& outcome);

}  // namespace stagecraft

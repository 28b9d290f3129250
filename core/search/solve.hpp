#pragma once
// Inverse questions: which value of one thing, everything else as in the scenario, makes the step take a given time.

#include <optional>
#include <string>
#include <vector>

#include "search/evaluate.hpp"

namespace stagecraft {

struct Solution {
  std::string what;              // "efficiency", "bandwidth", "bandwidth of the network", "micro-batches"
  std::optional<double> factor;  // of the scenario's value; for micro-batches their number per step and data rank
  std::string meaning;           // what that is, or why no value explains the time
  double step_s = 0;             // at that value, or at the nearest that there is
};

/// Closed-form seconds of a step of the context's scenario as it stands. Throws InputError or a Refusal.
double step_of_scenario_s(const SearchContext& context);

/// One entry per thing that is varied. Factors are sought from 1/16 to 16, to a relative 1e-6. Precondition: step_s > 0
/// and the scenario's layout has no errors.
std::vector<Solution> solve_for_step_time(const SearchContext& context, double step_s);

}  // namespace stagecraft

#pragma once
// Fits constants of a profile to measured step times: which records rest on them, the factors that suit them best, and
// how well the records determine these.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/graph.hpp"
#include "validate/rehearsed.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

/// Whether a constant, by its name in list_constants ("gemm/bf16/ceiling", "constants/host_step_ms"), is varied.
using Wanted = std::function<bool(const std::string& name, const Constant& constant)>;

/// A record ready to be timed again and again. Constants of equal value and source are one knob: a law that stands for
/// several dtypes has one source.
struct FitCase {
  const Record* record = nullptr;
  Rehearsed run;
  Graph graph;
  std::set<std::string> knobs;
};

using Scales = std::map<std::string, double>;  // factor per knob; 1 where absent

/// Calls `visit(name, constant)` for every wanted constant.
void each_wanted(Calibration& calibration, const Wanted& wanted,
                 const std::function<void(const std::string&, Constant&)>& visit);

std::string knob_of(const Constant& constant);

/// The record, if its step time is compared and moves with wanted constants; the others are no knobs of it. Records
/// with more than 16384 passes are left out: they would take most of the time and say no more.
std::optional<FitCase> fit_case(const Record& record, const Library& library, const Wanted& wanted);

/// Predicted over measured, minus 1.
double error_of(const FitCase& fitted, const Scales& scales, const Wanted& wanted);
std::vector<double> errors_of(const std::vector<const FitCase*>& cases, const Scales& scales, const Wanted& wanted);

inline constexpr double furthest_scale = 10;  // of a knob, up and down

/// The same, but no further than a profile may hold the constant.
double largest_scale(const std::string& name, const Constant& constant);

/// Scales each knob by the factor of a grid that gives the least mean absolute logarithm of predicted over measured,
/// one knob after the other until none moves, on ever finer grids.
Scales fit(const std::vector<const FitCase*>& cases, const std::set<std::string>& knobs, const Wanted& wanted);

/// Whether the records do not determine a knob: its interval reaches as far as was looked, or its scale does, whose
/// limit upwards is `largest`.
bool is_at_the_edge(double scale, const Interval& interval, double largest);

/// 90 % interval of each knob's factor: the best factor, on steps of 2 %, of 200 resamples of the records, the other
/// knobs held. Same input, same resamples.
std::map<std::string, Interval> intervals_of(const std::vector<const FitCase*>& cases, const Scales& scales,
                                             const Wanted& wanted);

}  // namespace stagecraft

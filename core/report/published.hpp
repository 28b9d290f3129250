#pragma once
// Published figures of a scenario beside the predicted ones.

#include <string>
#include <vector>

#include "cost/flops.hpp"
#include "plan/plan.hpp"
#include "report/report.hpp"

namespace stagecraft {

/// Throws InputError naming the nearest convention if there is none of that name.
const FlopConvention& flop_convention(const std::string& name, const std::string& file);

/// One row per published figure. TFLOP/s and MFU are predicted in the convention of the published figure.
/// Throws InputError for an unknown key or convention, or a figure that is not positive. `report` has its headline
/// figures.
std::vector<ReportPublished> published_rows(const Report& report, const Scenario& scenario, const Plan& plan);

}  // namespace stagecraft

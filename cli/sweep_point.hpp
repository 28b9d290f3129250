#pragma once
// One point of a sweep, rehearsed.

#include "rehearsal.hpp"
#include "search/point.hpp"

namespace stagecraft::cli {

/// Never throws for what the scenario says: a point that cannot run is `infeasible`, with every reason.
Point rehearse_point(std::int64_t number, std::vector<std::string> values, const RehearsalOptions& options,
                     const Console& console);

PointFigures figures_of(const Report& report);

}  // namespace stagecraft::cli

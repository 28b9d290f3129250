#pragma once
// What a run asks for beyond what a scenario means without it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/scenario.hpp"

namespace stagecraft {

/// Paths of a scenario, as "overlap.context", of everything about kernels, states, batches, schedule and exchanges that
/// is not as usual for its model, layout, framework and GPU. Degrees, cut of stages, precision, kind of recompute, ZeRO
/// stage and framework are not among them: each exporter has its own words for these.
std::vector<std::string> changed_settings(const Scenario& scenario);

/// Of these, what an exporter that writes `written` leaves out.
void leave_unwritten(const Scenario& scenario, std::span<const std::string_view> written,
                     std::vector<std::string>& left_out);

}  // namespace stagecraft

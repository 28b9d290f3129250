#pragma once

#include <string>

#include "exec/profile/measured_segment.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// The JSON text of a hardware profile that extends the scenario's own with what was measured (docs/cost-model.md,
/// "measured").
std::string calibration_text(const Profile& profile, const Scenario& scenario, const std::string& measured_on);

}  // namespace stagecraft

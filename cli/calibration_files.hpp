#pragma once

#include <string>
#include <vector>

#include "spec/scenario.hpp"

namespace stagecraft::cli {

/// The files behind a calibration, "HARDWARE+SOFTWARE" or a path, with those that they extend. Precondition: it loads.
std::vector<std::string> calibration_files(const std::string& name_or_path, const Library& library);

/// Those of the scenario's calibration and of its nodes of other kinds. Precondition: calibration_of works.
std::vector<std::string> calibration_files(const Scenario& scenario, const Library& library);

}  // namespace stagecraft::cli

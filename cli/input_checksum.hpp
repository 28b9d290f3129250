#pragma once

#include <string>
#include <vector>

#include "spec/scenario.hpp"

namespace stagecraft::cli {

/// Checksum of the program's version and the bytes of every file behind the scenario, its calibration's too; adds their
/// paths to `files`. A result that was kept is of the same inputs if it is equal.
std::string input_checksum(const Scenario& scenario, const Library& library, std::vector<std::string>& files);

}  // namespace stagecraft::cli

#pragma once

#include <string>

namespace stagecraft::cli {

/// Path of another of the programs: beside this one, else on the PATH; "" if it is in neither place.
std::string find_program(const std::string& name);

}  // namespace stagecraft::cli

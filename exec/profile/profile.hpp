#pragma once
// Times each kind of operation of a scenario alone, on one rank, and writes what was found as a calibration.

#include <string>
#include <vector>

#include "exec/run/options.hpp"

namespace CLI {
class App;
}

namespace stagecraft {

struct ProfileArguments {
  std::string scenario;
  std::vector<std::string> overrides;
  std::string executable;
  std::string output;  // the calibration file
  at::Device device = at::kCPU;
  std::int32_t repetitions = 7;  // median of so many
  bool pin = false;              // rank r on the r-th core
};

void add_profile_options(CLI::App& app, ProfileArguments& arguments);
int run_profile(const ProfileArguments& arguments);

}  // namespace stagecraft

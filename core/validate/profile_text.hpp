#pragma once
// A profile that extends another, as JSON.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cost/calibration.hpp"

namespace stagecraft {

struct ProfileDraft {
  bool of_software = false;
  std::string extends, description;
  std::vector<std::string> gpus;  // that the constants were measured on; empty: those of the profile that it extends
  std::vector<std::pair<std::string, Constant>> constants;  // by their names in list_constants
  std::map<std::string, MeasuredRange> ranges;              // "gemm/bf16/measured_k"
  std::map<std::string, std::string> words;                 // "collectives/node/all_reduce/measured_links"
  std::map<std::string, double> numbers;                    // "collectives/node/all_reduce/measured_link_GBps"
};

std::string to_json(const ProfileDraft& draft);

/// Where a name of list_constants, or one beside it, stands in a profile: {"collectives", "node/all_reduce",
/// "bus_GBps"}, {"constants", "launch_us"}.
std::vector<std::string> profile_keys(const std::string& name);

}  // namespace stagecraft

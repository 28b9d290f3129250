#pragma once
// What `stagecraft calibrate` fits to, beside records: one function per kind of source.

#include <string>
#include <vector>

#include "console.hpp"
#include "spec/scenario.hpp"
#include "validate/profile_text.hpp"

namespace stagecraft::cli {

struct NetworkSource {
  std::vector<std::string> logs;  // of nccl-tests
  std::string cluster;
  std::string op;           // "": as each log says
  std::string calibration;  // "": the cluster's
};

struct KernelSource {
  std::string kineto, nsys, profile;  // one of them
  std::string scenario;
  std::vector<std::string> overrides;
  std::string calibration;  // "": the scenario's
  int pipeline_rank = -1;   // -1: as the file says, else 0
  int steps = 0;            // 0: as the file marks, else 1
  bool other_work = false;  // fit even if the kernels cover another amount of work
};

struct Calibrated {
  std::string text;
  ProfileDraft profile;
};

/// Both throw InputError, a Refusal or UsageError.
Calibrated calibrate_network(const NetworkSource& source, const Console& console);
Calibrated calibrate_kernels(const KernelSource& source, const Console& console);

}  // namespace stagecraft::cli

#pragma once
// The smallest single changes that make a scenario fit, each tried: memory from its own plan and schedule, step time in
// closed form.

#include <optional>
#include <string>
#include <vector>

#include "memory/timeline.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::cli {

struct Advice {
  std::vector<std::string> overrides;  // as for --set, in the order given
  Bytes peak;                          // of the fullest rank
  double step_s = 0;
  double slowdown = 0;  // over the scenario as it is: 0.1 is 10 % slower
};

/// Of every kind of change (micro-batch, recompute, ZeRO stage, tensor and pipeline degree at the same number of GPUs,
/// offload, 8-bit optimizer) the smallest one that fits, fastest first. Empty if none fits.
std::vector<Advice> advise(const std::string& file, const std::vector<std::string>& overrides, const Library& library);

}  // namespace stagecraft::cli

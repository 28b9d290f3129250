#pragma once

#include <cstdint>

namespace stagecraft {

/// Steps whose operations do not always take the same time (estimate/jitter.hpp). All 0 if nothing varies.
struct JitteredSteps {
  double mean_s = 0, median_s = 0, p95_s = 0;
  double slowdown = 0;        // mean over the step without jitter
  std::int64_t replicas = 0;  // that each drawn step has
};

}  // namespace stagecraft

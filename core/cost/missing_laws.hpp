#pragma once
// Whether a calibration holds the laws that a scenario's kernels need.

#include "cost/calibration.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// Throws InputError, naming the field, where no law gives a time to the scenario's matrix products or to its flash
/// attention. 16-bit formats stand in for each other, fp32 for tf32 and bf16 for fp8.
void require_laws(const Scenario& scenario, const GpuSpec& gpu, const Calibration& calibration);

}  // namespace stagecraft

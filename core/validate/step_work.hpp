#pragma once
// What one GPU of a pipeline rank runs in one step: every kernel with its shape, and how often.

#include <string>
#include <vector>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

struct StepKernel {
  std::string segment;
  Kernel kernel;
  double count = 0;  // times per step
};

struct StepWork {
  std::vector<StepKernel> kernels;  // ascending by segment and shape, equal ones once
  /// Seconds of collectives and messages by the calibration, on an idle network, and how many.
  double communication_s = 0, communications = 0;
  double copies_s = 0, copies = 0;  // between GPU and host
};

StepWork step_work(const Plan& plan, const Schedule& schedule, const CostModel& costs, const Topology& topology,
                   PipelineRank rank);

/// The key under which a calibration may hold a measured time of the kernel.
MeasuredKernel key_of(const StepKernel& kernel);

}  // namespace stagecraft

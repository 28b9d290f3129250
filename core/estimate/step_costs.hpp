#pragma once
// What else than products and messages a step spends its time on, by name: all of it lies inside the classes of the
// breakdown already.

#include <array>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// Seconds of one step, mean over the pipeline ranks.
struct StepCosts {
  double optimizer_s = 0;           // the update of the parameters
  double gradient_clipping_s = 0;   // the gradients' norm and their scaling by it
  double host_s = 0;                // the framework's host work once per step
  double data_loading_s = 0;        // as the run states it
  double garbage_collection_s = 0;  // the GPU has run out of launched kernels while Python collects
  double slowest_rank_s = 0;        // waiting for the slowest of the ranks that do the same
  double kernel_launches_s = 0;     // the GPU waits for the host to launch its kernels
};

StepCosts step_costs(const Plan& plan, const Schedule& schedule, const CostModel& model, const Topology& topology);

/// The lines in the order of the struct: the key in JSON and CSV, what a report calls it.
struct StepCostLine {
  const char* key;
  const char* text;
  double StepCosts::*seconds;
};
inline constexpr std::array<StepCostLine, 7> step_cost_lines{{
    {"optimizer_s", "optimizer update", &StepCosts::optimizer_s},
    {"gradient_clipping_s", "gradient norm and clipping", &StepCosts::gradient_clipping_s},
    {"host_s", "host work once per step", &StepCosts::host_s},
    {"data_loading_s", "waiting for data", &StepCosts::data_loading_s},
    {"garbage_collection_s", "waiting for garbage collection", &StepCosts::garbage_collection_s},
    {"slowest_rank_s", "waiting for the slowest rank", &StepCosts::slowest_rank_s},
    {"kernel_launches_s", "waiting for kernel launches", &StepCosts::kernel_launches_s},
}};

}  // namespace stagecraft

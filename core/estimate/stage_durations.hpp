#pragma once
// Durations of whole stages, for the schedules that are searched.

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/stage_times.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// Forward, input-gradient and weight-gradient seconds of every stage of the plan (looped placement), recompute counted
/// with the input gradient, and the seconds of one message between the first two pipeline ranks.
StageTimes stage_durations(const Plan& plan, const CostModel& model, const Topology& topology);

/// The same as if all stages ran on the GPUs of the model; no message.
StageTimes stage_durations(const Plan& plan, const CostModel& model);

}  // namespace stagecraft

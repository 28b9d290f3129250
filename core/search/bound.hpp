#pragma once
// The least time that a step can take, whatever its schedule's details and the network do.

#include "cost/rank_costs.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// What the bound reads off a schedule's operations.
struct ScheduleFacts {
  bool split = false;                // I and W instead of B, somewhere
  bool recompute = false;            // an operation of its own
  std::int32_t steps_to_steady = 1;  // steps_until_steady
};
ScheduleFacts facts_of(const Schedule& lowered);

/// For every pipeline rank r, three times one after the other:
///   fill   the first micro-batch's way through the stages before r's first one;
///   work   everything that r computes in a step, tensor-parallel collectives inside operations included;
///   drain  the last gradient's way back through the stages before r (looped placements with whole backwards only).
/// The largest sum over the ranks, then the longest optimizer step where a barrier stands before it. Transfers count as
/// nothing, and fill and drain are left out where steps overlap, a stage lies on several ranks or ranks are not alike.
/// Every dependency that is used here is one of schedule/graph.hpp, so neither closed form nor simulation can be
/// faster.
double least_step_s(const Plan& plan, const Schedule& lowered, const ScheduleFacts& facts, const Bodies& bodies,
                    const RankTimes& times);

}  // namespace stagecraft

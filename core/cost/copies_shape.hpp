#pragma once
// A bidirectional schedule holds every stage on several pipeline ranks, so its gradients are reduced over the groups of
// all of them.

#include "cost/collective_time.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// The group that reduces a stage: of the axis (data or shard), those of all pipeline ranks that hold a copy. Its
/// siblings on the trunks are such groups, too.
GroupShape shape_over_copies(const Schedule& schedule, const Plan& plan, const Topology& topology, Stage stage,
                             Axis axis);

}  // namespace stagecraft

#pragma once
// Which ranks form which group, on which nodes, and what each group moves in a step.

#include <string>

#include "cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// Bytes of all collectives of one rank over `axis` in a step, as nccl-tests counts them (schedule/body.hpp), bodies
/// and operations together; of pipeline rank `rank`.
double group_bytes(const Plan& plan, const Schedule& schedule, Axis axis, PipelineRank rank);

/// A table of all axes whose groups have more than one rank: how many, the first ones with their nodes, bytes per rank
/// and step.
std::string explain_groups(const Plan& plan, const Schedule& schedule, const Topology& topology);

}  // namespace stagecraft

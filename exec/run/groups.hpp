#pragma once
// The communicators of a rank, made by every rank of the job in one order.

#include "exec/transport/transport.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

struct RankGroups {
  Coordinates at;
  Group world;
  Group tensor;     // ranks that cut a layer
  Group data;       // ranks that hold the same parameters
  Group embedding;  // the two holders of a tied embedding in this column; no members elsewhere
};

/// Throws TransportError(refused) if the job has not as many ranks as the plan. Connects the schedule's channels too.
RankGroups make_groups(const Plan& plan, const Schedule& schedule, Transport& transport);

/// The rank at another pipeline position of the same column.
std::int32_t peer_rank(const Plan& plan, const RankGroups& groups, PipelineRank pipeline);

}  // namespace stagecraft

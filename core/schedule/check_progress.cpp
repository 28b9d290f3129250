#include "schedule/check_parts.hpp"

namespace stagecraft {

void check_progress(const Schedule& schedule, FindingList& out) {
  const bool by_tag = !schedule.channels.empty() && schedule.channels.front().tag >= 0;
  const Replay result =
      replay(schedule, TransportModel::rendezvous, by_tag ? QueueGrouping::tag : QueueGrouping::edge_and_kind);
  if (result.deadlock) out.add("deadlock", -1, -1, result.explanation);
  if (!result.deadlock && result.mispaired) out.add("mispaired", -1, -1, result.explanation);
}

}  // namespace stagecraft

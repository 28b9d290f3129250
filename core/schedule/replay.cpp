#include "schedule/replay_engine.hpp"

namespace stagecraft {

const char* to_text(TransportModel transport) {
  return transport == TransportModel::eager ? "eager" : "rendezvous";
}

const char* to_text(QueueGrouping grouping) {
  switch (grouping) {
    case QueueGrouping::rank:
      return "one queue per rank";
    case QueueGrouping::rank_and_kind:
      return "one queue per rank and kind";
    case QueueGrouping::peer:
      return "one queue per peer";
    case QueueGrouping::edge:
      return "one queue per directed edge";
    case QueueGrouping::edge_and_kind:
      return "one queue per directed edge and kind";
    case QueueGrouping::tag:
      return "one queue per tag";
  }
  return "?";
}

Replay replay(const Schedule& schedule, TransportModel transport, QueueGrouping grouping) {
  const ReplayState state = run_replay(schedule, transport, grouping);
  Replay result;
  result.deadlock = !all_done(schedule, state);
  result.mispaired = state.mispaired_send != no_node;
  if (result.deadlock) {
    result.explanation = explain_deadlock(schedule, state, grouping);
  } else if (result.mispaired) {
    result.explanation = explain_mispairing(schedule, state);
  }
  return result;
}

}  // namespace stagecraft

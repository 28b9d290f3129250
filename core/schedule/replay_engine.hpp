#pragma once
// The dry run behind schedule/check.hpp: which operations run, and what each blocked one waits for.

#include <cstdint>
#include <vector>

#include "schedule/check.hpp"
#include "schedule/graph_tables.hpp"

namespace stagecraft {

/// State after the run has come to rest. Nodes are numbered as in schedule/graph.hpp.
struct ReplayState {
  std::vector<std::uint32_t> first_of_rank;
  NodeTable table;
  std::vector<std::uint32_t> mate;         // [node] the receive that a send meets and the other way round, or no_node
  std::vector<std::uint32_t> previous;     // [node] the message before it in its queue, or no_node
  std::vector<std::uint32_t> next;         // [node] the message behind it
  std::vector<std::uint8_t> posted, done;  // [node]
  std::vector<std::uint32_t> position;     // [rank] of the operation that is blocked, or the program's length
  std::vector<std::uint32_t>
      waits_for;  // [rank] the node that the blocked operation waits for, absent_node, or no_node
  std::uint32_t mispaired_send = no_node;  // the first send that meets a wrong receive
};

ReplayState run_replay(const Schedule& schedule, TransportModel transport, QueueGrouping grouping);

bool all_done(const Schedule& schedule, const ReplayState& state);

/// The blocked programs and the cycle in words.
std::string explain_deadlock(const Schedule& schedule, const ReplayState& state, QueueGrouping grouping);
std::string explain_mispairing(const Schedule& schedule, const ReplayState& state);

}  // namespace stagecraft

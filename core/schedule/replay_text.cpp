// How a failed dry run is told: the programs around the blocked cells, then the cycle in words.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "schedule/replay_engine.hpp"

namespace stagecraft {

namespace {

constexpr std::size_t cells_before = 4, cells_behind = 4;
constexpr std::size_t rows_shown = 16;

/// Something that cannot go on: the operation that a rank is stuck at (node none), or a message.
struct Stuck {
  std::size_t rank = 0;
  std::uint32_t node = no_node;
  friend bool operator==(const Stuck&, const Stuck&) = default;
};

struct Reason {
  Stuck next;
  std::string text;
  bool ends = false;  // waits for something that does not exist
};

std::size_t rank_of_node(const ReplayState& state, std::uint32_t node) {
  const auto after = std::upper_bound(state.first_of_rank.begin(), state.first_of_rank.end(), node);
  return static_cast<std::size_t>(after - state.first_of_rank.begin()) - 1;
}

const Op& op_of(const Schedule& schedule, const ReplayState& state, std::uint32_t node) {
  const std::size_t rank = rank_of_node(state, node);
  return schedule.programs[rank][node - state.first_of_rank[rank]];
}

std::uint32_t head_of_queue(const ReplayState& state, std::uint32_t node) {
  while (state.previous[node] != no_node && state.done[state.previous[node]] == 0) node = state.previous[node];
  return node;
}

/// What `node`, wanted by `who`, leads to if it has not been reached by its rank, or has been posted and is stuck.
Reason follow(const Schedule& schedule, const ReplayState& state, std::uint32_t node, const std::string& who) {
  const std::size_t rank = rank_of_node(state, node);
  const std::string name = to_text(op_of(schedule, state, node));
  const bool reached = node < state.first_of_rank[rank] + state.position[rank];
  if (!reached && state.posted[node] == 0) {
    const std::uint32_t at = state.first_of_rank[rank] + state.position[rank];
    return {{rank, no_node},
            fmt::format("{} {}, which rank {} has not reached: it stands at {}", who, name, rank,
                        to_text(op_of(schedule, state, at))),
            false};
  }
  return {{rank, node}, fmt::format("{} {}", who, name), false};
}

Reason reason_of(const Schedule& schedule, const ReplayState& state, const Stuck& stuck) {
  if (stuck.node == no_node) {
    const std::uint32_t at = state.first_of_rank[stuck.rank] + state.position[stuck.rank];
    const std::string name = to_text(op_of(schedule, state, at));
    const std::uint32_t wanted = state.waits_for[stuck.rank];
    if (wanted == absent_node) {
      return {
          {}, fmt::format("rank {}: {} waits for an input that nothing in the schedule gives", stuck.rank, name), true};
    }
    if (wanted == at) return {{stuck.rank, at}, fmt::format("rank {}: {} holds its rank", stuck.rank, name), false};
    return follow(schedule, state, wanted, fmt::format("rank {}: {} waits for", stuck.rank, name));
  }
  const std::string name = to_text(op_of(schedule, state, stuck.node));
  if (const std::uint32_t head = head_of_queue(state, stuck.node); head != stuck.node) {
    return {
        {stuck.rank, head},
        fmt::format("rank {}: {} stands in a queue behind {}", stuck.rank, name, to_text(op_of(schedule, state, head))),
        false};
  }
  const std::uint32_t mate = state.mate[stuck.node];
  if (mate == no_node) {
    return {{}, fmt::format("rank {}: {} has no counterpart in the schedule", stuck.rank, name), true};
  }
  return follow(schedule, state, mate, fmt::format("rank {}: {} needs", stuck.rank, name));
}

std::string row_text(const Schedule& schedule, const ReplayState& state, std::size_t rank) {
  const auto& program = schedule.programs[rank];
  const std::size_t at = state.position[rank];
  const std::size_t begin = at > cells_before ? at - cells_before : 0;
  const std::size_t end = std::min(program.size(), at + cells_behind + 1);
  std::string row = fmt::format("rank {:>3} |{}", rank, begin > 0 ? " ..." : "");
  for (std::size_t i = begin; i < end; ++i) {
    fmt::format_to(std::back_inserter(row), "{} {}", i == at ? " -->" : "", to_text(program[i]));
  }
  if (end < program.size()) row += " ...";
  if (at >= program.size()) {
    row += "  (done)";
  } else if (state.waits_for[rank] == absent_node) {
    row += "   <-- waits for an input that does not exist";
  } else {
    fmt::format_to(std::back_inserter(row), "   <-- waits for {}",
                   to_text(op_of(schedule, state, state.waits_for[rank])));
  }
  return row;
}

}  // namespace

std::string explain_deadlock(const Schedule& schedule, const ReplayState& state, QueueGrouping grouping) {
  std::vector<std::size_t> blocked;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    if (state.position[rank] < schedule.programs[rank].size()) blocked.push_back(rank);
  }
  std::vector<Stuck> path{{blocked.front(), no_node}};
  std::vector<std::string> words;
  std::size_t cycle_begin = 0;
  bool ends = false;
  for (;;) {
    Reason reason = reason_of(schedule, state, path.back());
    words.push_back(std::move(reason.text));
    ends = reason.ends;
    if (ends) break;
    const auto seen = std::find(path.begin(), path.end(), reason.next);
    if (seen != path.end()) {
      cycle_begin = static_cast<std::size_t>(seen - path.begin());
      break;
    }
    path.push_back(reason.next);
  }
  std::vector<std::size_t> rows = blocked;
  if (rows.size() > rows_shown) {  // the ranks of the cycle first, then the lowest
    rows.clear();
    for (std::size_t i = cycle_begin; i < path.size(); ++i) rows.push_back(path[i].rank);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    rows.resize(std::min(rows.size(), rows_shown));
  }
  std::string text = fmt::format("deadlock in {} with {}: {} of {} ranks are blocked\n", schedule.name,
                                 to_text(grouping), blocked.size(), schedule.programs.size());
  for (const std::size_t rank : rows) text += row_text(schedule, state, rank) + '\n';
  if (rows.size() < blocked.size()) {
    fmt::format_to(std::back_inserter(text), "({} more blocked ranks)\n", blocked.size() - rows.size());
  }
  text += ends ? "what the first of them waits for:\n" : "they wait for each other in a cycle:\n";
  for (std::size_t i = cycle_begin; i < words.size(); ++i) text += "  " + words[i] + '\n';
  if (!ends) fmt::format_to(std::back_inserter(text), "  and so back to the first line\n");
  return text;
}

std::string explain_mispairing(const Schedule& schedule, const ReplayState& state) {
  const std::uint32_t send = state.mispaired_send, receive = state.mate[send];
  const std::size_t from = rank_of_node(state, send), to = rank_of_node(state, receive);
  return fmt::format(
      "messages in {} are mixed up: {} of rank {} meets {} of rank {}, because rank {} posts its receives in another "
      "order "
      "than rank {} sends\nrank {:>3} | position {}: {}\nrank {:>3} | position {}: {}\n",
      schedule.name, to_text(op_of(schedule, state, send)), from, to_text(op_of(schedule, state, receive)), to, to,
      from, from, send - state.first_of_rank[from], to_text(op_of(schedule, state, send)), to,
      receive - state.first_of_rank[to], to_text(op_of(schedule, state, receive)));
}

}  // namespace stagecraft

#include <algorithm>
#include <limits>

#include "schedule/graph.hpp"

namespace stagecraft {

void longest_path(const Graph& graph, std::span<const double> duration_s, std::span<const double> earliest_s,
                  NodeTimes& times) {
  const std::size_t nodes = node_count(graph);
  times.end_s.resize(nodes);
  if (earliest_s.empty()) {
    times.start_s.assign(nodes, 0.0);
  } else {
    times.start_s.assign(earliest_s.begin(), earliest_s.end());
  }
  double makespan = 0;
  for (const std::uint32_t node : graph.order) {
    const double end = times.start_s[node] + duration_s[node];
    times.end_s[node] = end;
    makespan = std::max(makespan, end);
    for (const std::uint32_t successor : successors_of(graph, node)) {
      times.start_s[successor] = std::max(times.start_s[successor], end);
    }
  }
  times.makespan_s = graph.order.size() == nodes ? makespan : std::numeric_limits<double>::infinity();
}

void longest_path(const Graph& graph, std::span<const double> duration_s, NodeTimes& times) {
  longest_path(graph, duration_s, {}, times);
}

NodeTimes longest_path(const Graph& graph, std::span<const double> duration_s) {
  NodeTimes times;
  longest_path(graph, duration_s, {}, times);
  return times;
}

void carry_over(const Graph& graph, const NodeTimes& times, std::vector<double>& earliest_s) {
  earliest_s.assign(node_count(graph), 0.0);
  for (const auto& [from, to] : graph.across_steps) {
    earliest_s[to] = std::max(earliest_s[to], times.end_s[from]);
  }
}

}  // namespace stagecraft

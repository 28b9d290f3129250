#include "schedule/graph.hpp"

#include <algorithm>

#include "schedule/graph_edges.hpp"

namespace stagecraft {

namespace {

void index_successors(Graph& graph, std::uint32_t nodes, const std::vector<Graph::Edge>& edges) {
  graph.successor_offsets.assign(nodes + 1, 0);
  graph.predecessor_counts.assign(nodes, 0);
  for (const auto& [from, to] : edges) {
    ++graph.successor_offsets[from + 1];
    ++graph.predecessor_counts[to];
  }
  for (std::uint32_t n = 0; n < nodes; ++n) graph.successor_offsets[n + 1] += graph.successor_offsets[n];
  graph.successors.resize(edges.size());
  // Filling moves each offset to the next one's start; shifting back afterwards saves a second array.
  for (const auto& [from, to] : edges) graph.successors[graph.successor_offsets[from]++] = to;
  for (std::uint32_t n = nodes; n > 0; --n) graph.successor_offsets[n] = graph.successor_offsets[n - 1];
  graph.successor_offsets[0] = 0;
}

void find_order(Graph& graph, std::uint32_t nodes) {
  std::vector<std::uint32_t> waiting = graph.predecessor_counts;
  graph.order.clear();
  graph.order.reserve(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (waiting[n] == 0) graph.order.push_back(n);
  }
  for (std::size_t done = 0; done < graph.order.size(); ++done) {
    for (const std::uint32_t successor : successors_of(graph, graph.order[done])) {
      if (--waiting[successor] == 0) graph.order.push_back(successor);
    }
  }
}

}  // namespace

std::uint32_t node_count(const Graph& graph) {
  return graph.first_of_rank.empty() ? 0 : graph.first_of_rank.back();
}

std::span<const std::uint32_t> successors_of(const Graph& graph, std::uint32_t node) {
  return {graph.successors.data() + graph.successor_offsets[node],
          graph.successors.data() + graph.successor_offsets[node + 1]};
}

PipelineRank rank_at(const Graph& graph, std::uint32_t node) {
  const auto after = std::upper_bound(graph.first_of_rank.begin(), graph.first_of_rank.end(), node);
  return PipelineRank(static_cast<std::size_t>(after - graph.first_of_rank.begin()) - 1);
}

const Op& op_at(const Schedule& schedule, const Graph& graph, std::uint32_t node) {
  const std::size_t rank = rank_at(graph, node).index();
  return schedule.programs[rank][node - graph.first_of_rank[rank]];
}

Graph make_graph(const Schedule& schedule) {
  Graph graph;
  graph.first_of_rank.reserve(schedule.programs.size() + 1);
  graph.first_of_rank.push_back(0);
  for (const auto& program : schedule.programs) {
    graph.first_of_rank.push_back(graph.first_of_rank.back() + static_cast<std::uint32_t>(program.size()));
  }
  const Twins twins = find_twins(schedule, graph.first_of_rank);
  std::vector<Graph::Edge> edges = edges_within_step(schedule, graph.first_of_rank, twins);
  index_successors(graph, node_count(graph), edges);
  find_order(graph, node_count(graph));
  graph.across_steps = edges_across_steps(schedule, graph.first_of_rank, twins);
  return graph;
}

}  // namespace stagecraft

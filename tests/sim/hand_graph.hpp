#pragma once
// Dependency graphs and playbooks written by hand.

#include <initializer_list>

#include "sim/player.hpp"

namespace stagecraft::samples {

using Edges = std::initializer_list<Graph::Edge>;

inline Graph graph_of(std::uint32_t nodes, Edges edges, Edges across_steps = {}) {
  Graph graph;
  graph.first_of_rank = {0, nodes};
  graph.successor_offsets.assign(nodes + 1, 0);
  graph.predecessor_counts.assign(nodes, 0);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (const Graph::Edge& edge : edges) {
      if (edge.from == node) graph.successors.push_back(edge.to);
    }
    graph.successor_offsets[node + 1] = static_cast<std::uint32_t>(graph.successors.size());
  }
  for (const Graph::Edge& edge : edges) ++graph.predecessor_counts[edge.to];
  graph.across_steps = across_steps;
  return graph;
}

/// One work per node, one move per work.
inline Playbook book_of(std::initializer_list<Move> moves) {
  Playbook book;
  for (const Move& move : moves) {
    const auto index = static_cast<std::uint32_t>(book.works.size());
    book.work_of.push_back(index);
    book.works.push_back({index, 1, move.seconds, 0, false});
    book.moves.push_back(move);
  }
  return book;
}

inline PlayedTimes play_alone(const Playbook& book, const Graph& graph, std::int32_t steps = 1) {
  return play(book, graph, steps, std::vector<std::string>(book.links.size(), "link"), nullptr);
}

}  // namespace stagecraft::samples

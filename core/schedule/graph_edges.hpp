#pragma once
// The rules behind schedule/graph.hpp, as lists of edges.

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/graph.hpp"

namespace stagecraft {

/// Copies of activations run beside passes. [node] -> copy that starts when the node may start; copy that whatever
/// waits for the node waits for as well. Both empty in a schedule without such copies.
struct Twins {
  std::vector<std::uint32_t> starts_with, ends_with;
};
Twins find_twins(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank);

/// Adds from -> to for both and their twins.
void add_edge(const Twins& twins, std::uint32_t from, std::uint32_t to, std::vector<Graph::Edge>& edges);

std::vector<Graph::Edge> edges_within_step(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank,
                                           const Twins& twins);
std::vector<Graph::Edge> edges_across_steps(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank,
                                            const Twins& twins);

}  // namespace stagecraft

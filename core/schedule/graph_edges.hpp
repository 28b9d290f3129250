#pragma once
// The rules behind schedule/graph.hpp, as lists of edges.

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/graph.hpp"

namespace stagecraft {

std::vector<Graph::Edge> edges_within_step(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank);
std::vector<Graph::Edge> edges_across_steps(const Schedule& schedule, std::span<const std::uint32_t> first_of_rank);

}  // namespace stagecraft

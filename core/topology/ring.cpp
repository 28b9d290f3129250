#include "topology/ring.hpp"

#include <algorithm>
#include <numeric>

namespace stagecraft {
namespace {

using Members = std::span<const GpuId>;

std::vector<Members> split_by_node(const Topology& topology, Members members) {
  std::vector<Members> nodes;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= members.size(); ++i) {
    if (i < members.size() && node_of(topology, members[i]) == node_of(topology, members[first])) continue;
    nodes.push_back(members.subspan(first, i - first));
    first = i;
  }
  return nodes;
}

}  // namespace

std::int64_t common_units(std::span<const std::int64_t> counts) {
  constexpr std::int64_t largest = 256;
  std::int64_t units = 1, most = 1;
  for (const std::int64_t count : counts) {
    most = std::max(most, count);
    units = std::min(largest + 1, std::lcm(units, count));
  }
  return units > largest ? most : units;
}

std::int64_t share_of_units(std::int64_t units, std::int64_t parts) {
  return (units + parts - 1) / parts;
}

Ring make_ring(const Topology& topology, Members members) {
  const std::vector<Members> nodes = split_by_node(topology, members);
  Ring ring;
  if (nodes.size() == 1) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      ring.edges.push_back({members[i], members[(i + 1) % members.size()], 1});
    }
    return ring;
  }
  std::vector<std::int64_t> counts;
  for (const Members& node : nodes) counts.push_back(static_cast<std::int64_t>(node.size()));
  ring.units = common_units(counts);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Members node = nodes[n], next = nodes[(n + 1) % nodes.size()];
    const auto inside = static_cast<std::int64_t>(node.size());
    for (std::size_t i = 0; i < node.size() && inside > 1; ++i) {
      ring.edges.push_back({node[i], node[(i + 1) % node.size()], share_of_units(ring.units * (inside - 1), inside)});
    }
    const std::size_t ways_out = std::max(node.size(), next.size());
    for (std::size_t i = 0; i < ways_out; ++i) {
      const std::int64_t weight = share_of_units(ring.units, static_cast<std::int64_t>(ways_out));
      ring.edges.push_back({node[i % node.size()], next[i % next.size()], weight});
    }
  }
  return ring;
}

}  // namespace stagecraft

#include "cost/fabric_share.hpp"

#include <algorithm>
#include <unordered_map>

#include "topology/even_exchange.hpp"
#include "topology/ring.hpp"

namespace stagecraft {
namespace {

/// Bytes on every trunk, and what the busiest one takes for them.
class TrunkLoad {
 public:
  explicit TrunkLoad(const Topology& topology)
      : topology_(topology), first_trunk_(topology.cluster.nodes * topology.links_per_node) {}

  void add(GpuId from, GpuId to, double bytes) {
    find_route(topology_, from, to, route_);
    for (const LinkId link : route_.links) {
      if (link.value >= first_trunk_) bytes_[link.value] += bytes;
    }
  }
  void add(LinkId trunk, double bytes) { bytes_[trunk.value] += bytes; }
  double slowest_s() const {
    double slowest = 0;
    for (const auto& [id, bytes] : bytes_)
      slowest = std::max(slowest, bytes / link(topology_, LinkId(id)).achieved.value);
    return slowest;
  }

 private:
  const Topology& topology_;
  std::int64_t first_trunk_;
  Route route_;
  std::unordered_map<std::int32_t, double> bytes_;
};

double ring_s(const Topology& topology, std::span<const std::vector<GpuId>> groups) {
  TrunkLoad load(topology);
  for (const std::vector<GpuId>& members : groups) {
    if (members.size() < 2) continue;
    const Ring ring = make_ring(topology, members);
    for (const RingEdge& edge : ring.edges) {
      if (node_of(topology, edge.from) == node_of(topology, edge.to)) continue;
      load.add(edge.from, edge.to, static_cast<double>(edge.weight) / static_cast<double>(ring.units));
    }
  }
  return load.slowest_s();
}

/// Of the group's members those on the node that has most.
double most_on_a_node(const Topology& topology, const std::vector<GpuId>& members) {
  std::size_t most = 0;
  for (std::size_t first = 0, i = 1; i <= members.size(); ++i) {
    if (i < members.size() && node_of(topology, members[i]) == node_of(topology, members[first])) continue;
    most = std::max(most, i - first);
    first = i;
  }
  return static_cast<double>(most);
}

double all_to_all_s(const Topology& topology, std::span<const std::vector<GpuId>> groups) {
  TrunkLoad load(topology);
  for (const std::vector<GpuId>& members : groups) {
    const double others = static_cast<double>(members.size()) - most_on_a_node(topology, members);
    if (others <= 0) continue;
    for (const TrunkUse& use : exchanged_over_trunks(topology, members)) load.add(use.trunk, use.pairs / others);
  }
  return load.slowest_s();
}

}  // namespace

bool fabric_limits(const Topology& topology) {
  const FabricSpec& fabric = topology.cluster.fabric;
  if (fabric.kind == FabricKind::none || fabric.kind == FabricKind::single_switch) return false;
  return fabric.kind == FabricKind::dragonfly || fabric.oversubscription > 1 || fabric.routing == Routing::fixed ||
         !topology.leaf_left.empty();
}

FabricShare fabric_share(const Topology& topology, std::span<const std::vector<GpuId>> groups, bool all_to_all) {
  if (!fabric_limits(topology)) return {};
  return {ring_s(topology, groups), all_to_all ? all_to_all_s(topology, groups) : 0};
}

}  // namespace stagecraft

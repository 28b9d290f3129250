// What an all-to-all puts on trunks, against counting the route of every pair.
#include "topology/even_exchange.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "sample_clusters.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

std::map<std::string, double> said(const Topology& topology, const std::vector<GpuId>& members) {
  std::map<std::string, double> pairs;
  for (const TrunkUse& use : exchanged_over_trunks(topology, members)) {
    if (use.pairs > 0) pairs[link(topology, use.trunk).name] += use.pairs;
  }
  return pairs;
}

std::map<std::string, double> counted(const Topology& topology, const std::vector<GpuId>& members) {
  std::map<std::string, double> pairs;
  Route route;
  for (const GpuId from : members) {
    for (const GpuId to : members) {
      find_route(topology, from, to, route);
      for (const LinkId id : route.links) {
        const Link passed = link(topology, id);
        if (passed.kind == LinkKind::network && !passed.name.starts_with("node")) pairs[passed.name] += 1;
      }
    }
  }
  return pairs;
}

/// Two GPUs and two NICs on PCIe: nothing moves to the other's rail first.
NodeSpec two_rails_on_pcie() {
  NodeSpec node = pcie_box(2, true);
  add_device(node, DeviceKind::nic, "nic1");
  add_wire(node, "nic1", "cpu1", LinkKind::pcie, 25);
  return node;
}

FabricSpec dragonfly(std::int64_t switches_per_group, Routing routing) {
  FabricSpec made = fabric(FabricKind::dragonfly, 1);
  made.switches_per_group = switches_per_group;
  made.local_rate = GBps(50);
  made.global_rate = GBps(100);
  made.routing = routing;
  return made;
}

}  // namespace

TEST_CASE("an all-to-all crosses every trunk as often as the routes of its pairs do", "[topology]") {
  const std::vector<Topology> topologies = {
      build_topology(cluster(dgx_a100_node(), 6, fabric(FabricKind::fat_tree, 2, 4))),
      build_topology(cluster(dgx_a100_node(), 6, fabric(FabricKind::rail_optimised, 2, 4))),
      build_topology(cluster(two_rails_on_pcie(), 6, fabric(FabricKind::rail_optimised, 2, 4))),
      build_topology(cluster(dgx_a100_node(), 6, dragonfly(1, Routing::adaptive))),
      build_topology(cluster(dgx_a100_node(), 6, dragonfly(2, Routing::adaptive))),
      build_topology(cluster(dgx_a100_node(), 6, dragonfly(2, Routing::fixed))),
      build_topology(cluster(dgx_a100_node(), 6, dragonfly(3, Routing::fixed))),
      build_topology(cluster(dgx_a100_node(), 11, dragonfly(4, Routing::adaptive))),
      build_topology(cluster(dgx_a100_node(), 11, dragonfly(4, Routing::fixed)))};
  for (const Topology& topology : topologies) {
    CAPTURE(to_text(topology.cluster.fabric.kind), topology.cluster.fabric.switches_per_group);
    const std::int32_t all = static_cast<std::int32_t>(gpu_count(topology));
    for (const std::int32_t stride : {1, 2, 3, 5}) {
      for (const std::int32_t first : {0, 3}) {
        CAPTURE(stride, first);
        std::vector<GpuId> members;
        for (std::int32_t gpu = first; gpu < all; gpu += stride) members.emplace_back(gpu);
        CHECK(said(topology, members) == counted(topology, members));
      }
    }
  }
}

TEST_CASE("where a hash chooses cables an all-to-all of many uses all of a leaf alike", "[topology]") {
  FabricSpec hashed = fabric(FabricKind::fat_tree, 2, 4);
  hashed.routing = Routing::fixed;
  const Topology topology = build_topology(cluster(dgx_a100_node(), 12, hashed));
  std::vector<GpuId> members;
  for (std::int32_t gpu = 0; gpu < 96; ++gpu) members.emplace_back(gpu);
  // 16 NICs to a leaf, 4:1: four cables, of which one stands for all. 16 x 80 pairs leave each of six leaves.
  const std::map<std::string, double> pairs = said(topology, members);
  REQUIRE(pairs.size() == 12);
  for (const auto& [name, count] : pairs) CHECK(count == Approx(16 * 80 / 4));
}

TEST_CASE("pairs that a hash sends over one cable collide", "[topology]") {
  FabricSpec hashed = fabric(FabricKind::fat_tree, 2, 1);
  hashed.routing = Routing::fixed;
  const Topology topology = build_topology(cluster(dgx_a100_node(), 4, hashed));
  for (const std::int32_t stride : {1, 7, 8, 16}) {
    CAPTURE(stride);
    std::vector<GpuId> members;
    for (std::int32_t gpu = 0; gpu < 32; gpu += stride) members.emplace_back(gpu);
    CHECK(said(topology, members) == counted(topology, members));
  }
}

TEST_CASE("an all-to-all on one switch crosses no trunk", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 4, fabric(FabricKind::single_switch)));
  CHECK(exchanged_over_trunks(topology, std::vector<GpuId>{GpuId(0), GpuId(8)}).empty());
}

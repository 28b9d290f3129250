// What flows share on every kind of fabric, each answer derived by hand. NICs achieve 24 GB/s.

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/input_error.hpp"
#include "sample_clusters.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

FabricSpec dragonfly(std::int64_t nodes_per_switch, std::int64_t switches_per_group, Routing routing) {
  FabricSpec made = fabric(FabricKind::dragonfly, nodes_per_switch);
  made.switches_per_group = switches_per_group;
  made.local_rate = GBps(50);
  made.global_rate = GBps(100);
  made.routing = routing;
  return made;
}

FabricSpec fixed(FabricKind kind, std::int64_t nodes_per_leaf_group, double oversubscription = 1) {
  FabricSpec made = fabric(kind, nodes_per_leaf_group, oversubscription);
  made.routing = Routing::fixed;
  return made;
}

std::vector<std::string> between(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  std::vector<std::string> names;
  for (const LinkId id : route.links) {
    const Link passed = link(topology, id);
    if (passed.kind == LinkKind::network && !passed.name.starts_with("node")) names.push_back(passed.name);
  }
  return names;
}

double latency_s(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  return route.latency.value;
}

/// The least that any of the flows gets if all start at once and share alike: rate of a link over its flows.
double least_share(const Topology& topology, const std::vector<std::pair<int, int>>& flows) {
  std::map<LinkId, int> users;
  Route route;
  for (const auto& [from, to] : flows) {
    find_route(topology, GpuId(from), GpuId(to), route);
    for (const LinkId id : route.links) ++users[id];
  }
  double least = 1e30;
  for (const auto& [id, count] : users) least = std::min(least, link(topology, id).achieved.value / count);
  return least;
}

/// Every GPU of the first half sends to its counterpart in the second.
std::vector<std::pair<int, int>> bisection(int gpus) {
  std::vector<std::pair<int, int>> flows;
  for (int gpu = 0; gpu < gpus / 2; ++gpu) flows.emplace_back(gpu, gpu + gpus / 2);
  return flows;
}

Topology four_nodes(const FabricSpec& wiring) {
  return build_topology(cluster(dgx_a100_node(), 4, wiring));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("bisection: what each of 16 GPUs gets that send across the middle of four nodes", "[topology]") {
  CHECK(least_share(four_nodes(fabric(FabricKind::single_switch)), bisection(32)) == Approx(24e9));
  CHECK(least_share(four_nodes(fabric(FabricKind::fat_tree, 2)), bisection(32)) == Approx(24e9));
  CHECK(least_share(four_nodes(fabric(FabricKind::fat_tree, 2, 4)), bisection(32)) == Approx(6e9));
  CHECK(least_share(four_nodes(fabric(FabricKind::rail_optimised, 2)), bisection(32)) == Approx(24e9));
  CHECK(least_share(four_nodes(fabric(FabricKind::rail_optimised, 2, 3)), bisection(32)) == Approx(8e9));
  // A switch per node, two per group: 8 flows leave a switch over 50 GB/s, 16 a group over 100.
  CHECK(least_share(four_nodes(dragonfly(1, 2, Routing::adaptive)), bisection(32)) == Approx(6.25e9));
  // Fixed: the cable to the other group hangs on the first switch, so node 1 crosses a local cable of 50 GB/s.
  CHECK(least_share(four_nodes(dragonfly(1, 2, Routing::fixed)), bisection(32)) == Approx(6.25e9));
}

TEST_CASE("two flows into one NIC get half each, two into two NICs all, on every fabric", "[topology]") {
  for (const FabricSpec& wiring : {fabric(FabricKind::single_switch), fabric(FabricKind::fat_tree, 2),
                                   fabric(FabricKind::rail_optimised, 2), dragonfly(1, 2, Routing::adaptive)}) {
    const Topology topology = four_nodes(wiring);
    CHECK(least_share(topology, {{0, 24}}) == Approx(24e9));
    CHECK(least_share(topology, {{0, 24}, {8, 24}}) == Approx(12e9));
    CHECK(least_share(topology, {{0, 24}, {9, 25}}) == Approx(24e9));
  }
}

TEST_CASE("GPUs that share a NIC get half of it each, on every fabric", "[topology]") {
  for (const FabricKind kind : {FabricKind::single_switch, FabricKind::fat_tree, FabricKind::rail_optimised}) {
    const Topology topology = build_topology(cluster(dgx1_node(), 2, fabric(kind, 1)));  // its wire: 12 GB/s
    CHECK(least_share(topology, {{0, 8}, {1, 9}}) == Approx(6e9));
    CHECK(least_share(topology, {{0, 8}, {2, 10}}) == Approx(12e9));
  }
}

TEST_CASE("rails keep neighbours below their leaf; elsewhere the fabric is crossed", "[topology]") {
  CHECK(between(four_nodes(fabric(FabricKind::rail_optimised, 2)), 3, 8 + 3).empty());
  CHECK(between(four_nodes(fabric(FabricKind::rail_optimised, 2)), 3, 16 + 3) ==
        Names{"leaf-group0/rail3/up", "leaf-group1/rail3/down"});
  CHECK(between(four_nodes(dragonfly(1, 2, Routing::adaptive)), 3, 8 + 3) ==
        Names{"group0/switch0/out", "group0/switch1/in"});
}

TEST_CASE("a ring over two nodes is as fast as its NICs, whatever joins them", "[topology]") {
  for (const FabricSpec& wiring :
       {fabric(FabricKind::single_switch), fabric(FabricKind::fat_tree, 1), fabric(FabricKind::rail_optimised, 1)}) {
    const Topology topology = build_topology(cluster(dgx_a100_node(), 2, wiring));
    std::vector<std::pair<int, int>> flows;  // eight rings, each over one NIC of either node, both ways
    for (int gpu = 0; gpu < 8; ++gpu) {
      flows.emplace_back(gpu, 8 + gpu);
      flows.emplace_back(8 + gpu, gpu);
    }
    CHECK(least_share(topology, flows) == Approx(24e9));
  }
}

TEST_CASE("a PCIe box with host staging shares its sockets and its one NIC", "[topology]") {
  const Topology box = build_topology(cluster(pcie_box(4), 2, fabric(FabricKind::single_switch)));
  CHECK(least_share(box, {{0, 2}, {1, 3}}) == Approx(10e9));  // the 20 GB/s between the sockets
  CHECK(least_share(box, {{0, 4}, {1, 5}}) == Approx(12e9));  // the NIC
  CHECK(least_share(box, {{2, 6}, {3, 7}, {0, 4}}) == Approx(8e9));
}

TEST_CASE("fixed routing puts a flow on one cable, the same every time, and spreads flows over all", "[topology]") {
  // 4 nodes of 8 NICs below a leaf: 32 cables of 24 GB/s.
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fixed(FabricKind::fat_tree, 4)));
  CHECK(between(topology, 5, 34) == between(topology, 5, 34));
  const Names path = between(topology, 5, 34);
  REQUIRE(path.size() == 2);
  CHECK(path[0].substr(0, path[0].rfind('/')) == "leaf-group0" + path[1].substr(11, path[1].rfind('/') - 11));
  std::set<std::string> cables;
  for (int gpu = 0; gpu < 32; ++gpu) {
    for (int peer = 32; peer < 64; ++peer) cables.insert(between(topology, gpu, peer).front());
  }
  CHECK(cables.size() == 32);
}

TEST_CASE("fixed routing makes flows collide that adaptive routing keeps apart", "[topology]") {
  const double adaptive =
      least_share(build_topology(cluster(dgx_a100_node(), 8, fabric(FabricKind::fat_tree, 4))), bisection(64));
  CHECK(adaptive == Approx(24e9));
  std::set<double> by_seed;
  for (int seed = 0; seed < 8; ++seed) {
    FabricSpec wiring = fixed(FabricKind::fat_tree, 4);
    wiring.hash_seed = seed;
    by_seed.insert(least_share(build_topology(cluster(dgx_a100_node(), 8, wiring)), bisection(64)));
  }
  CHECK(*by_seed.begin() <= 8e9);  // 32 flows on 32 cables by chance: some cable has three or more
  CHECK(*by_seed.rbegin() <= 12e9);
  CHECK(by_seed.size() > 1);
}

TEST_CASE("oversubscription leaves fixed routing fewer cables of a NIC's rate each", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fixed(FabricKind::rail_optimised, 4, 2)));
  // Per rail 4 NICs below a leaf, 2 cables above it; 2 groups of 8 rails, 2 directions.
  CHECK(link_count(topology) - 8 * topology.links_per_node == 2 * 8 * 2 * 2);
  Route route;
  find_route(topology, GpuId(0), GpuId(32), route);
  CHECK(link(topology, route.links[3]).achieved == GBps(24));
}

TEST_CASE("a dragonfly passes one, two or four switches; a fixed path the direct cable", "[topology]") {
  // 12 nodes: switches of 2 nodes, groups of 2 switches, 3 groups.
  const Topology topology = build_topology(cluster(dgx_a100_node(), 12, dragonfly(2, 2, Routing::fixed)));
  CHECK(between(topology, 0, 8).empty());
  CHECK(between(topology, 0, 16) == Names{"group0/switch0->switch1"});
  // Group 0 reaches group 1 from its switch 0 and group 2 from its switch 1; group 2 reaches group 0 from switch 0.
  CHECK(between(topology, 0, 32) == Names{"group0->group1"});
  CHECK(between(topology, 16, 64) == Names{"group0->group2"});
  CHECK(between(topology, 0, 88) == Names{"group0/switch0->switch1", "group0->group2", "group2/switch0->switch1"});
  CHECK(latency_s(topology, 0, 8) == Approx(2e-6 + 0.5e-6));
  CHECK(latency_s(topology, 0, 16) == Approx(2e-6 + 2 * 0.5e-6));
  CHECK(latency_s(topology, 0, 88) == Approx(2e-6 + 4 * 0.5e-6));
}

TEST_CASE("with adaptive routing a dragonfly's group has all its cables for anyone", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 12, dragonfly(2, 2, Routing::adaptive)));
  CHECK(between(topology, 0, 88) ==
        Names{"group0/switch0/out", "group0/global/out", "group2/global/in", "group2/switch1/in"});
  Route route;
  find_route(topology, GpuId(0), GpuId(88), route);
  CHECK(link(topology, route.links[4]).achieved == GBps(200));  // two other groups, 100 GB/s each
  CHECK(latency_s(topology, 0, 88) == Approx(2e-6 + 4 * 0.5e-6));
}

TEST_CASE("every link of every fabric has a number and a name of its own", "[topology]") {
  for (const FabricSpec& wiring : {fixed(FabricKind::fat_tree, 2), fixed(FabricKind::rail_optimised, 2),
                                   dragonfly(1, 2, Routing::adaptive), dragonfly(1, 2, Routing::fixed)}) {
    const Topology topology = build_topology(cluster(dgx1_node(), 5, wiring));
    std::set<std::string> names;
    for (std::int64_t id = 0; id < link_count(topology); ++id)
      names.insert(link(topology, LinkId(static_cast<std::int32_t>(id))).name);
    CHECK(static_cast<std::int64_t>(names.size()) == link_count(topology));
    for (int from = 0; from < 40; ++from) {
      for (int to = 0; to < 40; ++to) {
        Route route;
        find_route(topology, GpuId(from), GpuId(to), route);
        double least = 1e30;
        for (const LinkId each : route.links) {
          CHECK(each.value < link_count(topology));
          least = std::min(least, link(topology, each).achieved.value);
        }
        if (from != to) CHECK(route.bottleneck.value == Approx(least));
      }
    }
  }
}

TEST_CASE("a fabric with more links than numbers is refused", "[topology]") {
  CHECK_THROWS_AS(build_topology(cluster(pcie_box(2), 1'000'000, dragonfly(1, 2, Routing::fixed))), InputError);
}

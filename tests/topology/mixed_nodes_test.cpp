// Routes of clusters whose nodes are not alike, each answer derived by hand. Nodes 0 and 1 have NICs of 24 GB/s, nodes
// 2 and 3 have NICs of 48.
#include <catch2/catch.hpp>
#include <set>

#include "base/input_error.hpp"
#include "sample_clusters.hpp"
#include "topology/check_topology.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;
using Catch::Contains;

namespace {

/// As dgx_a100_node with PCIe twice as fast.
NodeSpec faster_node() {
  NodeSpec node = dgx_a100_node();
  node.name = "dgx-h100";
  for (WireSpec& wire : node.wires) {
    if (wire.kind == LinkKind::pcie) wire.nominal = wire.achieved = GBps(50);
  }
  return node;
}

OtherNodes kind_of(NodeSpec node, std::int64_t count, double nic_gbps) {
  OtherNodes kind;
  kind.count = count;
  kind.cluster = "other";
  kind.gpu = a100();
  kind.node = std::move(node);
  kind.nic_nominal = kind.nic_achieved = GBps(nic_gbps);
  return kind;
}

ClusterSpec mixed(FabricSpec wiring, std::int64_t nodes = 4, std::int64_t others = 2) {
  ClusterSpec made = cluster(dgx_a100_node(), nodes, wiring);
  made.other_nodes = {kind_of(faster_node(), others, 48)};
  return made;
}

double rate(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  return route.bottleneck.value;
}

}  // namespace

TEST_CASE("between two kinds the slower NIC decides, among the faster ones their own", "[topology]") {
  for (const FabricKind kind : {FabricKind::single_switch, FabricKind::fat_tree, FabricKind::rail_optimised}) {
    const Topology topology = build_topology(mixed(fabric(kind, 2)));
    CHECK(rate(topology, 0, 8) == Approx(24e9));
    CHECK(rate(topology, 0, 16) == Approx(24e9));
    CHECK(rate(topology, 16, 0) == Approx(24e9));
    CHECK(rate(topology, 16, 24) == Approx(48e9));
    CHECK_FALSE(is_even(topology));
  }
}

TEST_CASE("a leaf carries what the NICs below it send", "[topology]") {
  // Leaf group 0 holds nodes 0 and 1 (16 NICs of 24), group 1 nodes 2 and 3 (16 of 48), each 2:1 oversubscribed.
  const Topology topology = build_topology(mixed(fabric(FabricKind::fat_tree, 2, 2)));
  Route route;
  find_route(topology, GpuId(0), GpuId(16), route);
  std::vector<double> trunks;
  for (const LinkId id : route.links) {
    const Link passed = link(topology, id);
    if (passed.name.starts_with("leaf-group")) trunks.push_back(passed.achieved.value);
  }
  REQUIRE(trunks.size() == 2);
  CHECK(trunks[0] == Approx(16 * 24e9 / 2));
  CHECK(trunks[1] == Approx(16 * 48e9 / 2));
}

TEST_CASE("a group of both kinds has the sum of their NICs", "[topology]") {
  // One node of each kind below every leaf, places beyond the last node of the last kind: 8 x 24 + 3 x 8 x 48 of 4.
  const Topology topology = build_topology(mixed(fabric(FabricKind::fat_tree, 4), 5, 4));
  Route route;
  find_route(topology, GpuId(0), GpuId(4 * 8), route);
  for (const LinkId id : route.links) {
    const Link passed = link(topology, id);
    if (passed.name == "leaf-group0/up") CHECK(passed.achieved.value == Approx((8 * 24e9 + 3 * 8 * 48e9)));
    if (passed.name == "leaf-group1/down") CHECK(passed.achieved.value == Approx(4 * 8 * 48e9));
  }
}

TEST_CASE("nodes with fewer links leave numbers out, and no two links share one", "[topology]") {
  ClusterSpec made = mixed(fabric(FabricKind::fat_tree, 2));
  NodeSpec small = pcie_box(8, true);  // one NIC, 9 wires and more
  made.other_nodes = {kind_of(small, 2, 24)};
  const Topology topology = build_topology(made);
  std::set<std::string> names;
  for (std::int32_t id = 0; id < link_count(topology); ++id) names.insert(link(topology, LinkId(id)).name);
  CHECK(static_cast<std::int64_t>(names.size()) == link_count(topology));
  Route route;
  for (const int from : {0, 15, 16, 31}) {
    for (const int to : {0, 15, 16, 31}) {
      find_route(topology, GpuId(from), GpuId(to), route);
      for (const LinkId id : route.links) {
        CHECK(id.value < link_count(topology));
        CHECK(link(topology, id).achieved.value > 0);
      }
    }
  }
  // All 8 GPUs of the small node leave by its one NIC.
  CHECK(wiring_of(topology, NodeId(std::int32_t{2})).nic_of_gpu == std::vector<std::int32_t>(8, 0));
}

TEST_CASE("a fault on a node of another kind leaves its siblings as they are", "[topology]") {
  ClusterSpec made = mixed(fabric(FabricKind::rail_optimised, 4));
  FaultSpec slow;
  slow.kind = FaultKind::nic;
  slow.device = "nic3";
  slow.left = 0.25;
  slow.nodes = {3};
  made.faults = {slow};
  const Topology topology = build_topology(made);
  CHECK(rate(topology, 16 + 3, 24 + 3) == Approx(12e9));
  CHECK(rate(topology, 16 + 2, 24 + 2) == Approx(48e9));
  CHECK(rate(topology, 3, 16 + 3) == Approx(24e9));
}

TEST_CASE("nodes with other numbers of GPUs are refused, and findings name the kind", "[topology]") {
  ClusterSpec uneven = mixed(fabric(FabricKind::fat_tree, 2));
  uneven.other_nodes = {kind_of(pcie_box(4), 2, 24)};
  CHECK_THROWS_AS(build_topology(uneven), InputError);
  ClusterSpec odd = mixed(fabric(FabricKind::fat_tree, 2));
  odd.other_nodes[0].node.wires.back().achieved = GBps(60);  // labelled 50
  const Findings findings = check_topology(odd);
  REQUIRE_FALSE(findings.empty());
  CHECK(findings.front().code == "achieved-above-nominal");
  CHECK(findings.front().pointer == "/other_nodes/0/cluster/node/wires/28/achieved");
  CHECK_THAT(findings.front().message, Contains("dgx-h100"));
}

TEST_CASE("a cluster of 100,000 GPUs of two kinds is built with one wiring per kind", "[topology]") {
  const Topology topology = build_topology(mixed(fabric(FabricKind::rail_optimised, 32), 12500, 6250));
  CHECK(topology.variants.size() == 1);
  CHECK(rate(topology, 0, 99999) == Approx(24e9));
  CHECK(rate(topology, 50000, 99999) == Approx(48e9));
}

#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "sample_clusters.hpp"
#include "topology/fault_effect.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;
using Catch::Contains;

namespace {

FaultSpec fault(FaultKind kind, std::vector<std::int64_t> nodes = {}) {
  FaultSpec made;
  made.kind = kind;
  made.nodes = std::move(nodes);
  return made;
}

FaultSpec of_device(FaultKind kind, const char* device, double left, std::vector<std::int64_t> nodes = {}) {
  FaultSpec made = fault(kind, std::move(nodes));
  made.device = device;
  made.left = left;
  return made;
}

Topology with(const FaultSpec& one, FabricKind kind = FabricKind::rail_optimised) {
  ClusterSpec made = cluster(dgx_a100_node(), 4, fabric(kind, 2));
  made.faults = {one};
  return build_topology(made);
}

double rate(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  return route.bottleneck.value;
}

}  // namespace

TEST_CASE("a slow NIC slows its node's way out and in, and no other node", "[topology]") {
  const Topology topology = with(of_device(FaultKind::nic, "nic5", 0.5, {1}));
  CHECK(rate(topology, 8 + 5, 16 + 5) == Approx(12e9));
  CHECK(rate(topology, 5, 8 + 5) == Approx(12e9));
  CHECK(rate(topology, 5, 16 + 5) == Approx(24e9));
  CHECK(rate(topology, 8 + 4, 16 + 4) == Approx(24e9));
  CHECK_FALSE(is_even(topology));
  CHECK(fault_effect(topology, topology.cluster.faults[0]) == "node1/nic5/up carries 12 GB/s instead of 24 GB/s");
}

TEST_CASE("the same NIC slow in every node leaves all nodes alike", "[topology]") {
  const Topology topology = with(of_device(FaultKind::nic, "nic5", 0.5));
  CHECK(rate(topology, 5, 8 + 5) == Approx(12e9));
  CHECK(is_even(topology));
  CHECK(topology.variants.empty());
}

TEST_CASE("the GPUs of a NIC that is down use the nearest that is left", "[topology]") {
  const Topology topology = with(of_device(FaultKind::nic, "nic5", 0, {1}));
  const NodeWiring& wiring = wiring_of(topology, NodeId(1));
  CHECK(wiring.nic_of_gpu[5] == 4);  // the other NIC of their switch, which gpu4 keeps using
  CHECK(wiring.nic_of_gpu[4] == 4);
  CHECK(topology.nic_of_gpu[5] == 5);
  CHECK_THAT(fault_effect(topology, topology.cluster.faults[0]),
             Contains("node1/nic5/up is down") && Contains("leaves 12 GB/s to each of 2 GPUs"));
}

TEST_CASE("a wire at half its rate slows copies over it; one that is down is gone round", "[topology]") {
  FaultSpec half = fault(FaultKind::wire, {0});
  half.from = "nvswitch";
  half.to = "gpu2";
  half.left = 0.5;
  CHECK(rate(with(half), 2, 3) == Approx(150e9));
  CHECK(rate(with(half), 8 + 2, 8 + 3) == Approx(300e9));
  CHECK(fault_effect(with(half), half) == "node0/nvswitch->gpu2 carries 150 GB/s instead of 300 GB/s");
  half.left = 0;
  CHECK(rate(with(half), 2, 3) == Approx(25e9));  // PCIe
}

TEST_CASE("a node that a fault cuts off is refused", "[topology]") {
  ClusterSpec made = cluster(pcie_box(2), 1, fabric(FabricKind::none));
  FaultSpec cut = fault(FaultKind::wire);
  cut.from = "cpu0";
  cut.to = "cpu1";
  cut.left = 0;
  made.faults = {cut};
  CHECK_THROWS_WITH(build_topology(made), Contains("no path from gpu0 to gpu1"));
}

TEST_CASE("access control sends PCIe traffic through the root, so two GPUs of a switch share its uplink",
          "[topology]") {
  const Topology topology = with(fault(FaultKind::access_control));
  // gpu0 -> pcie0 -> cpu0 -> pcie0 -> nic0: the uplink carries both GPUs of the switch up and down.
  CHECK(topology.to_nic[0].size() == 5);
  CHECK_THAT(fault_effect(topology, topology.cluster.faults[0]), Contains("leaves 12.5 GB/s to each of 2 GPUs"));
  Route route;
  find_route(topology, GpuId(0), GpuId(8), route);
  CHECK_FALSE(route.staged_through_host);
  CHECK(rate(topology, 2, 3) == Approx(300e9));  // NVLink does not care
}

TEST_CASE("without GPUDirect what passes a NIC is staged through host memory", "[topology]") {
  const Topology topology = with(fault(FaultKind::gpudirect_off, {0}));
  Route route;
  find_route(topology, GpuId(0), GpuId(8), route);
  CHECK(route.staged_through_host);
  find_route(topology, GpuId(8), GpuId(16), route);
  CHECK_FALSE(route.staged_through_host);
}

TEST_CASE("a NIC in a slot of the other socket is left to nobody while its GPUs have a nearer one", "[topology]") {
  FaultSpec moved = of_device(FaultKind::nic_moved, "nic0", 1, {0});
  moved.to = "cpu1";
  const Topology topology = with(moved);
  CHECK(wiring_of(topology, NodeId(0)).nic_of_gpu[0] == 1);
  CHECK(wiring_of(topology, NodeId(0)).nic_of_gpu[1] == 1);
}

TEST_CASE("a leaf that lost cables carries less, on one rail of one group only", "[topology]") {
  FaultSpec lost = fault(FaultKind::leaf);
  lost.leaf_group = 1;
  lost.rail = 3;
  lost.left = 0.25;
  const Topology topology = with(lost);
  Route route;
  find_route(topology, GpuId(3), GpuId(16 + 3), route);
  CHECK(link(topology, route.links[3]).achieved == GBps(48));
  CHECK(link(topology, route.links[4]).achieved == GBps(12));
  CHECK(link(topology, route.links[4]).left == 0.25);
  find_route(topology, GpuId(4), GpuId(16 + 4), route);
  CHECK(link(topology, route.links[4]).achieved == GBps(48));
  CHECK_FALSE(is_even(topology));
  CHECK_THAT(fault_effect(topology, lost), Contains("leaf-group1/rail3/up carries 12 GB/s instead of 48 GB/s"));
}

TEST_CASE("other tenants take their part of every trunk", "[topology]") {
  FaultSpec load = fault(FaultKind::background);
  load.left = 0.7;
  const Topology topology = with(load, FabricKind::fat_tree);
  Route route;
  find_route(topology, GpuId(0), GpuId(16), route);
  CHECK(link(topology, route.links[3]).achieved.value == Approx(0.7 * 16 * 24e9));
  CHECK(is_even(topology));
}

TEST_CASE("a slow GPU keeps its links and loses speed", "[topology]") {
  const Topology topology = with(of_device(FaultKind::gpu, "gpu3", 0.8, {2}));
  CHECK(speed_of(topology, GpuId(16 + 3)) == 0.8);
  CHECK(speed_of(topology, GpuId(3)) == 1);
  CHECK(rate(topology, 16 + 3, 24 + 3) == Approx(24e9));
}

TEST_CASE("faults of one node add up", "[topology]") {
  ClusterSpec made = cluster(dgx_a100_node(), 4, fabric(FabricKind::rail_optimised, 2));
  made.faults = {of_device(FaultKind::nic, "nic0", 0.5), of_device(FaultKind::nic, "nic0", 0.5, {3}),
                 of_device(FaultKind::nic, "nic1", 0.5, {3})};
  const Topology topology = build_topology(made);
  CHECK(rate(topology, 0, 8) == Approx(12e9));
  CHECK(rate(topology, 24, 0) == Approx(6e9));
  CHECK(rate(topology, 25, 1) == Approx(12e9));
  CHECK(rate(topology, 1, 9) == Approx(24e9));
}

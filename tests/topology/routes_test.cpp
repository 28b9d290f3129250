#include <catch2/catch.hpp>
#include <chrono>

#include "base/input_error.hpp"
#include "sample_clusters.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

std::vector<std::string> names_on(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  std::vector<std::string> names;
  for (const LinkId id : route.links) names.push_back(link(topology, id).name);
  return names;
}

Route route_between(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  return route;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("inside a DGX A100 a copy goes through the NVSwitch", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 1, fabric(FabricKind::single_switch)));
  CHECK(names_on(topology, 1, 6) == Names{"node0/gpu1->nvswitch", "node0/nvswitch->gpu6"});
  CHECK(route_between(topology, 1, 6).bottleneck == GBps(300));
  CHECK(route_between(topology, 1, 6).latency.value == Approx(2e-6));
  CHECK_FALSE(route_between(topology, 1, 6).staged_through_host);
}

TEST_CASE("a GPU and itself are joined by nothing", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 1, fabric(FabricKind::single_switch)));
  CHECK(route_between(topology, 3, 3).links.empty());
  CHECK(route_between(topology, 3, 3).latency.value == 0);
}

TEST_CASE("the two GPUs of a PCIe switch take its two NICs", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 1, fabric(FabricKind::single_switch)));
  CHECK(topology.nic_of_gpu == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("between DGX A100 nodes on one switch a copy passes PCIe, NIC, switch, NIC, PCIe", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 2, fabric(FabricKind::single_switch)));
  CHECK(names_on(topology, 0, 8 + 2) == Names{"node0/gpu0->pcie0", "node0/pcie0->nic0", "node0/nic0/up",
                                              "node1/nic2/down", "node1/nic2->pcie1", "node1/pcie1->gpu2"});
  CHECK(route_between(topology, 0, 10).bottleneck == GBps(24));
  CHECK(route_between(topology, 0, 10).latency.value == Approx(2e-6 + 0.5e-6));
}

TEST_CASE("in the hybrid cube mesh GPUs without a common NVLink use one GPU in between, never PCIe", "[topology]") {
  const Topology topology = build_topology(cluster(dgx1_node(), 1, fabric(FabricKind::single_switch)));
  CHECK(names_on(topology, 0, 3) == Names{"node0/gpu0->gpu3"});
  CHECK(route_between(topology, 0, 3).bottleneck == GBps(50));
  // 0 and 6 are joined over 2 (25 + 25) and over 4 (50 + 25): both are as narrow, the first in file order counts.
  CHECK(names_on(topology, 0, 6).size() == 2);
  CHECK(route_between(topology, 0, 6).bottleneck == GBps(25));
  // 1 and 4 are joined over 0 (25, 50) and 5 (50, 25).
  CHECK(route_between(topology, 1, 4).bottleneck == GBps(25));
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      for (const LinkId id : route_between(topology, from, to).links) {
        CHECK(link(topology, id).kind == LinkKind::nvlink);
      }
    }
  }
}

TEST_CASE("in a DGX-1 two GPUs share the NIC of their PCIe switch", "[topology]") {
  const Topology topology = build_topology(cluster(dgx1_node(), 2, fabric(FabricKind::single_switch)));
  CHECK(topology.nic_of_gpu == std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 3, 3});
  const Route from_0 = route_between(topology, 0, 8), from_1 = route_between(topology, 1, 9);
  std::vector<std::string> shared;
  for (const LinkId id : shared_links(from_0, from_1)) shared.push_back(link(topology, id).name);
  CHECK(shared == Names{"node0/pcie0->nic0", "node0/nic0/up", "node1/nic0->pcie0", "node1/nic0/down"});
}

TEST_CASE("without peer-to-peer a copy passes the CPU and is staged", "[topology]") {
  const Topology topology = build_topology(cluster(pcie_box(4), 1, fabric(FabricKind::none)));
  CHECK(names_on(topology, 0, 1) == Names{"node0/gpu0->cpu0", "node0/cpu0->gpu1"});
  CHECK(route_between(topology, 0, 1).staged_through_host);
  CHECK(names_on(topology, 0, 3) == Names{"node0/gpu0->cpu0", "node0/cpu0->cpu1", "node0/cpu1->gpu3"});
  CHECK(route_between(topology, 0, 3).bottleneck == GBps(20));
}

TEST_CASE("behind a PCIe switch a staged copy still climbs to the CPU", "[topology]") {
  NodeSpec node = pcie_box(2);
  node.devices.push_back({DeviceKind::pcie_switch, "pcie0"});
  for (WireSpec& wire : node.wires) {
    if (wire.from.starts_with("gpu")) wire.to = "pcie0";
  }
  add_wire(node, "pcie0", "cpu0", LinkKind::pcie, 25);
  const Topology staged = build_topology(cluster(node, 1, fabric(FabricKind::none)));
  CHECK(names_on(staged, 0, 1) ==
        Names{"node0/gpu0->pcie0", "node0/pcie0->cpu0", "node0/cpu0->pcie0", "node0/pcie0->gpu1"});
  node.peer_to_peer = true;
  const Topology direct = build_topology(cluster(node, 1, fabric(FabricKind::none)));
  CHECK(names_on(direct, 0, 1) == Names{"node0/gpu0->pcie0", "node0/pcie0->gpu1"});
  CHECK_FALSE(route_between(direct, 0, 1).staged_through_host);
}

TEST_CASE("an NVLink bridge joins its pair only", "[topology]") {
  NodeSpec node = pcie_box(4);
  add_wire(node, "gpu0", "gpu1", LinkKind::nvlink, 50);
  const Topology topology = build_topology(cluster(node, 1, fabric(FabricKind::none)));
  CHECK(names_on(topology, 0, 1) == Names{"node0/gpu0->gpu1"});
  CHECK_FALSE(route_between(topology, 0, 1).staged_through_host);
  CHECK(names_on(topology, 0, 2) == Names{"node0/gpu0->cpu0", "node0/cpu0->cpu1", "node0/cpu1->gpu2"});
}

TEST_CASE("a topology of 100,000 GPUs is built at once and routed without a table", "[topology]") {
  const auto begin = std::chrono::steady_clock::now();
  const Topology topology = build_topology(cluster(dgx_a100_node(), 12'500, fabric(FabricKind::rail_optimised)));
  Route route;
  std::size_t links = 0;
  for (int gpu = 0; gpu < 100'000; ++gpu) {
    find_route(topology, GpuId(gpu), GpuId((gpu + 50'000) % 100'000), route);
    links += route.links.size();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(gpu_count(topology) == 100'000);
  CHECK(links == 8 * 100'000);  // PCIe, PCIe, NIC, trunk up, trunk down, NIC, PCIe, PCIe
  CHECK(took.count() < 1.0);
}

#include <catch2/catch.hpp>
#include <set>

#include "base/input_error.hpp"
#include "sample_clusters.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

std::vector<std::string> network_links(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  std::vector<std::string> names;
  for (const LinkId id : route.links) {
    if (link(topology, id).kind == LinkKind::network) names.push_back(link(topology, id).name);
  }
  return names;
}

double latency_s(const Topology& topology, int from, int to) {
  Route route;
  find_route(topology, GpuId(from), GpuId(to), route);
  return route.latency.value;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("on rails the same NIC of two nodes of a group is one switch away", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fabric(FabricKind::rail_optimised, 4)));
  CHECK(network_links(topology, 5, 3 * 8 + 5) == Names{"node0/nic5/up", "node3/nic5/down"});
  CHECK(latency_s(topology, 5, 3 * 8 + 5) == Approx(2e-6 + 0.5e-6));
}

TEST_CASE("on rails nodes of different groups are three switches apart, through the trunks of their rail",
          "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fabric(FabricKind::rail_optimised, 4)));
  CHECK(network_links(topology, 5, 4 * 8 + 5) ==
        Names{"node0/nic5/up", "leaf-group0/rail5/up", "leaf-group1/rail5/down", "node4/nic5/down"});
  CHECK(latency_s(topology, 5, 4 * 8 + 5) == Approx(2e-6 + 3 * 0.5e-6));
}

TEST_CASE("a copy to another rail moves over NVLink first and stays below the leaf", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fabric(FabricKind::rail_optimised, 4)));
  CHECK(network_links(topology, 5, 8 + 2) == Names{"node0/nic2/up", "node1/nic2/down"});
  Route route;
  find_route(topology, GpuId(5), GpuId(8 + 2), route);
  CHECK(link(topology, route.links[0]).name == "node0/gpu5->nvswitch");
  CHECK(link(topology, route.links[1]).name == "node0/nvswitch->gpu2");
}

TEST_CASE("without NVLink a copy to another rail crosses the spine", "[topology]") {
  NodeSpec node = dgx_a100_node();
  std::erase_if(node.wires, [](const WireSpec& wire) { return wire.kind == LinkKind::nvlink; });
  const Topology topology = build_topology(cluster(node, 2, fabric(FabricKind::rail_optimised, 4)));
  CHECK(network_links(topology, 5, 8 + 2) ==
        Names{"node0/nic5/up", "leaf-group0/rail5/up", "leaf-group0/rail2/down", "node1/nic2/down"});
}

TEST_CASE("a fat tree has one trunk per leaf group, whose rate is what oversubscription leaves of its NICs",
          "[topology]") {
  // 4 nodes of 8 NICs at 24 GB/s are 768 GB/s below a leaf; at 2:1 half of it goes up.
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fabric(FabricKind::fat_tree, 4, 2)));
  CHECK(network_links(topology, 5, 8 + 2) == Names{"node0/nic5/up", "node1/nic2/down"});
  CHECK(network_links(topology, 5, 32 + 2) ==
        Names{"node0/nic5/up", "leaf-group0/up", "leaf-group1/down", "node4/nic2/down"});
  Route route;
  find_route(topology, GpuId(5), GpuId(34), route);
  CHECK(link(topology, route.links[3]).name == "leaf-group0/up");
  CHECK(link(topology, route.links[3]).achieved == GBps(384));
}

TEST_CASE("a rail's trunk carries the NICs of that rail only", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 8, fabric(FabricKind::rail_optimised, 4, 1)));
  Route route;
  find_route(topology, GpuId(0), GpuId(32), route);
  CHECK(link(topology, route.links[3]).name == "leaf-group0/rail0/up");
  CHECK(link(topology, route.links[3]).achieved == GBps(4 * 24));
}

TEST_CASE("every link has a number of its own and a name of its own", "[topology]") {
  const Topology topology = build_topology(cluster(dgx1_node(), 3, fabric(FabricKind::rail_optimised, 2)));
  std::set<std::string> names;
  for (std::int64_t id = 0; id < link_count(topology); ++id) {
    names.insert(link(topology, LinkId(static_cast<std::int32_t>(id))).name);
  }
  // Per node 33 wires in 2 directions and 4 NIC ports in 2; 2 leaf groups of 4 rails with 2 trunks each.
  CHECK(link_count(topology) == 3 * (2 * 33 + 2 * 4) + 2 * 4 * 2);
  CHECK(static_cast<std::int64_t>(names.size()) == link_count(topology));
}

TEST_CASE("half of the GPUs sending to the other half fill the bisection of an oversubscribed tree", "[topology]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 4, fabric(FabricKind::fat_tree, 2, 4)));
  // 16 GPUs of group 0 send to group 1 over one trunk of 2 x 8 x 24 / 4 GB/s: 6 GB/s each.
  Route route;
  int crossing = 0;
  for (int gpu = 0; gpu < 16; ++gpu) {
    find_route(topology, GpuId(gpu), GpuId(16 + gpu), route);
    for (const LinkId id : route.links) crossing += link(topology, id).name == "leaf-group0/up" ? 1 : 0;
  }
  CHECK(crossing == 16);
  find_route(topology, GpuId(0), GpuId(16), route);
  CHECK(link(topology, route.links[3]).achieved.value / crossing == Approx(6e9));
}

TEST_CASE("a topology that cannot work is refused with the place and what would work", "[topology]") {
  const auto refusal = [](const ClusterSpec& spec) {
    try {
      build_topology(spec);
    } catch (const InputError& error) {
      return error.problems().front();
    }
    return InputProblem{};
  };
  SECTION("a GPU that nothing reaches") {
    NodeSpec node = pcie_box(2);
    add_device(node, DeviceKind::gpu, "gpu9");
    CHECK(refusal(cluster(node, 1, fabric(FabricKind::none))).got == "no path from gpu0 to gpu9");
  }
  SECTION("a wire to a device that does not exist") {
    NodeSpec node = pcie_box(2);
    add_wire(node, "gpu0", "cpuO", LinkKind::pcie, 25);
    const InputProblem problem = refusal(cluster(node, 1, fabric(FabricKind::none)));
    CHECK(problem.pointer == "/node/wires/4/to");
    CHECK(problem.nearest == "cpu0");
  }
  SECTION("several nodes without a fabric") {
    CHECK(refusal(cluster(pcie_box(2), 2, fabric(FabricKind::none))).pointer == "/fabric/kind");
  }
  SECTION("several nodes without NICs") {
    NodeSpec node = pcie_box(2);
    std::erase_if(node.wires, [](const WireSpec& wire) { return wire.from == "nic0"; });
    CHECK(refusal(cluster(node, 2, fabric(FabricKind::single_switch))).got == "no path from GPU 0 to a NIC");
  }
  SECTION("more nodes than links can be numbered for") {
    CHECK(refusal(cluster(dgx_a100_node(), 1'000'000'000, fabric(FabricKind::single_switch))).pointer == "/nodes");
  }
  SECTION("no peer-to-peer and no CPU to pass through") {
    NodeSpec node = pcie_box(2);
    std::erase_if(node.wires, [](const WireSpec& wire) { return wire.to == "cpu1"; });
    CHECK(refusal(cluster(node, 1, fabric(FabricKind::none))).got == "no path from gpu0 to gpu1");
  }
}

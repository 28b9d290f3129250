#include <catch2/catch.hpp>

#include "spec/scenario.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;

namespace {

Topology shipped(const char* name) {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return build_topology(load_cluster(name, Library{{root + "/scenarios", root + "/topologies"}}));
}

Route route(const Topology& topology, int from, int to) {
  Route found;
  find_route(topology, GpuId(from), GpuId(to), found);
  return found;
}

double gigabytes(const Route& route) {
  return route.bottleneck.value * 1e-9;
}

}  // namespace

TEST_CASE("two GPUs of a p4d share one NIC: their ways out share its wire") {
  const Topology topology = shipped("aws-p4d");
  CHECK(topology.nic_of_gpu[0] == topology.nic_of_gpu[1]);
  CHECK(topology.nic_of_gpu[0] != topology.nic_of_gpu[2]);
  CHECK_FALSE(shared_links(route(topology, 0, 8), route(topology, 1, 9)).empty());
  CHECK(shared_links(route(topology, 0, 8), route(topology, 2, 10)).empty());
}

TEST_CASE("across the sockets of a PCIe box a copy has what the link between them carries") {
  const Topology topology = shipped("pcie-2-sockets");
  CHECK(gigabytes(route(topology, 0, 3)) == Approx(24));
  CHECK(gigabytes(route(topology, 0, 4)) == Approx(10));
  CHECK_FALSE(shared_links(route(topology, 0, 4), route(topology, 1, 5)).empty());
  CHECK(shared_links(route(topology, 0, 4), route(topology, 4, 0)).empty());  // full duplex
  CHECK_FALSE(route(topology, 0, 4).staged_through_host);
}

TEST_CASE("without peer-to-peer copies every copy of a PCIe box passes host memory") {
  const Topology topology = shipped("pcie-2-sockets-staged");
  CHECK(route(topology, 0, 1).staged_through_host);
  CHECK(route(topology, 0, 4).staged_through_host);
}

TEST_CASE("NVLink bridges join pairs only; other pairs take PCIe") {
  const Topology topology = shipped("a100-pcie-pairs");
  CHECK(gigabytes(route(topology, 0, 1)) == Approx(274));
  CHECK(gigabytes(route(topology, 1, 2)) == Approx(24));
  CHECK(route(topology, 0, 1).links.size() == 1);
}

TEST_CASE("all 72 GPUs of an NVL72 rack are two NVLink hops apart, and 16 of a DGX-2") {
  const Topology rack = shipped("gb200-nvl72");
  CHECK(route(rack, 0, 71).links.size() == 2);
  CHECK(gigabytes(route(rack, 0, 71)) == Approx(755));
  const Topology dgx2 = shipped("dgx-2");
  CHECK(route(dgx2, 0, 15).links.size() == 2);
  CHECK(dgx2.nic_of_gpu[0] == dgx2.nic_of_gpu[1]);
}

TEST_CASE("the mesh of MI300X gives one pair one link of the seven") {
  const Topology topology = shipped("mi300x-box");
  for (int peer = 1; peer < 8; ++peer) {
    CHECK(route(topology, 0, peer).links.size() == 1);
    CHECK(gigabytes(route(topology, 0, peer)) == Approx(64));
  }
}

TEST_CASE("between pods of the 24K cluster seven NICs share the trunk of one") {
  const Topology topology = shipped("meta-24k");
  const Route inside = route(topology, 0, 8), between = route(topology, 0, 384 * 8);
  double trunk = 0, nic = 0;
  for (const LinkId id : between.links) {
    const Link wire = link(topology, id);
    if (wire.name.find("leaf-group") != std::string::npos) trunk = wire.achieved.value;
  }
  for (const LinkId id : inside.links) {
    const Link wire = link(topology, id);
    if (wire.kind == LinkKind::network) nic = wire.achieved.value;
  }
  CHECK(trunk == Approx(384 * 8 * nic / 7));
}

TEST_CASE("every shipped cluster is built, and its first GPU reaches its last") {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  for (const std::string& name : cluster_names(library)) {
    CAPTURE(name);
    const Topology topology = build_topology(load_cluster(name, library));
    const auto last = static_cast<std::int32_t>(gpu_count(topology) - 1);
    if (last == 0) continue;
    CHECK(route(topology, 0, last).bottleneck.value > 0);
  }
}

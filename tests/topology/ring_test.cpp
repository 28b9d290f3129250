#include "topology/ring.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "sample_clusters.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

Ring ring_over(const Topology& topology, std::initializer_list<int> gpus) {
  std::vector<GpuId> members;
  for (const int gpu : gpus) members.emplace_back(gpu);
  return make_ring(topology, members);
}

std::int64_t sent_inside(const Topology& topology, const Ring& ring, int gpu) {
  std::int64_t sum = 0;
  for (const RingEdge& edge : ring.edges) {
    const bool inside = node_of(topology, edge.from) == node_of(topology, edge.to);
    if (inside && edge.from == GpuId(gpu)) sum += edge.weight;
  }
  return sum;
}

std::int64_t sent_outside(const Topology& topology, const Ring& ring, int gpu) {
  std::int64_t sum = 0;
  for (const RingEdge& edge : ring.edges) {
    const bool inside = node_of(topology, edge.from) == node_of(topology, edge.to);
    if (!inside && edge.from == GpuId(gpu)) sum += edge.weight;
  }
  return sum;
}

}  // namespace

TEST_CASE("a ring on one node sends everything to the next member", "[sim]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 1, fabric(FabricKind::single_switch)));
  const Ring ring = ring_over(topology, {0, 2, 4});
  CHECK(ring.units == 1);
  REQUIRE(ring.edges.size() == 3);
  CHECK(ring.edges[2].from == GpuId(4));
  CHECK(ring.edges[2].to == GpuId(0));
}

TEST_CASE("a ring of whole nodes sends an eighth through each NIC and the rest over NVLink", "[sim]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 2, fabric(FabricKind::rail_optimised)));
  const Ring ring = ring_over(topology, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(ring.units == 8);
  for (int gpu = 0; gpu < 16; ++gpu) {
    CHECK(sent_inside(topology, ring, gpu) == 7);
    CHECK(sent_outside(topology, ring, gpu) == 1);
  }
}

TEST_CASE("a ring with one member per node lives on the NICs alone", "[sim]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 3, fabric(FabricKind::rail_optimised)));
  const Ring ring = ring_over(topology, {3, 11, 19});
  CHECK(ring.units == 1);
  CHECK(ring.edges.size() == 3);
  CHECK(sent_outside(topology, ring, 19) == 1);
}

TEST_CASE("every node of an uneven ring sends as much out as comes in", "[sim]") {
  const Topology topology = build_topology(cluster(dgx_a100_node(), 2, fabric(FabricKind::rail_optimised)));
  const Ring ring = ring_over(topology, {0, 1, 2, 8});
  CHECK(ring.units == 3);
  CHECK(sent_outside(topology, ring, 0) + sent_outside(topology, ring, 1) + sent_outside(topology, ring, 2) == 3);
  CHECK(sent_outside(topology, ring, 8) == 3);
}

// What oversubscribed leaves do to collectives. Every GPU has a NIC of 10 GB/s; two nodes of eight to a leaf.
#include "cost/fabric_share.hpp"

#include <catch2/catch.hpp>

#include "cost/cost_model.hpp"
#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

ClusterSpec tapered(std::int64_t nodes, double oversubscription) {
  ClusterSpec cluster = round_cluster(nodes, 8);
  cluster.fabric.kind = FabricKind::fat_tree;
  cluster.fabric.nodes_per_leaf_group = 2;
  cluster.fabric.oversubscription = oversubscription;
  return cluster;
}

CollectiveTime time_over(CollectiveKind kind, const GroupShape& shape) {
  return collective_time(kind, Bytes{1e9}, shape, ideal_calibration());
}

Plan tensor_in_node(std::int64_t nodes, double oversubscription) {
  Scenario scenario = small_scenario();
  scenario.cluster = tapered(nodes, oversubscription);
  scenario.run.parallel.data = nodes;
  scenario.run.batch = {nodes, 1};
  return make_plan(scenario);
}

GroupShape data_shape(std::int64_t nodes, double oversubscription) {
  const Topology topology = build_topology(tapered(nodes, oversubscription));
  return shape_of(make_cost_model(tensor_in_node(nodes, oversubscription), topology, ideal_calibration()), Axis::data);
}

}  // namespace

TEST_CASE("a ring over all GPUs of oversubscribed leaves runs at the rate of a leaf's trunk") {
  // 4:1 leaves a leaf of 16 NICs 40 GB/s up, which the ring leaves once; its node's NICs would give 80.
  const GroupShape shape = shape_of(build_topology(tapered(4, 4)), gpus(0, 32));
  CHECK(time_over(CollectiveKind::all_gather, shape).total.expected.value == Approx(10e-6 + 1e9 * 31 / 32 / 40e9));
  CHECK(time_over(CollectiveKind::all_reduce, shape).total.expected.value == Approx(10e-6 + 1e9 * 2 * 31 / 32 / 40e9));
  const GroupShape inside = shape_of(build_topology(tapered(4, 4)), gpus(0, 16));  // one leaf
  CHECK(time_over(CollectiveKind::all_gather, inside).total.expected.value == Approx(10e-6 + 1e9 * 15 / 16 / 80e9));
}

TEST_CASE("an all-to-all over oversubscribed leaves waits for what leaves them") {
  // Each of 16 GPUs of a leaf sends half of its bytes to the other leaf.
  const GroupShape shape = shape_of(build_topology(tapered(4, 4)), gpus(0, 32));
  CHECK(time_over(CollectiveKind::all_to_all, shape).total.expected.value == Approx(16 * 1e9 / 2 / 40e9));
  // Non-blocking, its own NIC: 24/32 go to other nodes.
  const GroupShape wide = shape_of(build_topology(tapered(4, 1)), gpus(0, 32));
  CHECK(time_over(CollectiveKind::all_to_all, wide).total.expected.value == Approx(1e9 * 24 / 32 / 10e9));
}

TEST_CASE("rings that are no faster than their NICs alone wait for each other at a leaf's trunk") {
  // Tensor groups fill the nodes: eight data rings of one NIC each leave a leaf through 40 GB/s.
  const CollectiveTime time = time_over(CollectiveKind::all_gather, data_shape(4, 4));
  CHECK(time.total.expected.value == Approx(1e9 * 3 / 4 / 10e9));
  CHECK(time.shared.value == Approx(1e9 * 3 / 4 / 5e9));
  CHECK(time.total.evidence == Evidence::borrowed);
}

TEST_CASE("a fabric that carries all that its NICs send takes nothing from a collective") {
  CHECK_FALSE(fabric_limits(build_topology(round_cluster(4, 8))));
  CHECK_FALSE(fabric_limits(build_topology(tapered(4, 1))));
  CHECK(data_shape(4, 1).fabric_shared == FabricShare{});
  CHECK(data_shape(4, 1).fabric_alone == FabricShare{});
  // 2:1 leaves the trunk 80 GB/s, what the eight rings that leave the leaf bring.
  const CollectiveTime time = time_over(CollectiveKind::all_gather, data_shape(4, 2));
  CHECK(time.shared.value == Approx(1e9 * 3 / 4 / 10e9));
  CHECK(time.total.evidence == Evidence::measured);
}

TEST_CASE("a trunk at half of its rate halves what passes it") {
  ClusterSpec cluster = tapered(4, 4);
  FaultSpec fault;
  fault.kind = FaultKind::leaf;
  fault.left = 0.5;
  cluster.faults.push_back(fault);
  const GroupShape shape = shape_of(build_topology(cluster), gpus(0, 32));
  CHECK(time_over(CollectiveKind::all_gather, shape).total.expected.value == Approx(10e-6 + 1e9 * 31 / 32 / 20e9));
}

TEST_CASE("where a hash chooses cables a ring is never faster than over all of them") {
  for (const double oversubscription : {1.0, 2.0, 4.0, 8.0}) {
    ClusterSpec hashed = tapered(8, oversubscription);
    hashed.fabric.routing = Routing::fixed;
    const Topology fixed = build_topology(hashed), spread = build_topology(tapered(8, oversubscription));
    for (int group = 0; group < 8; ++group) {
      CAPTURE(oversubscription, group);
      const std::vector<std::vector<GpuId>> rings = {gpus(group, 8, 8)};
      CHECK(fabric_share(fixed, rings).ring >= fabric_share(spread, rings).ring);
      CHECK(fabric_share(fixed, rings).all_to_all >= fabric_share(spread, rings).all_to_all);
    }
  }
}

// Groups that lie unevenly on nodes, and groups of an axis that lie on them in different ways.
#include <catch2/catch.hpp>

#include "cost/collective_time.hpp"
#include "cost/faulty_groups.hpp"
#include "cost/rank_costs.hpp"
#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

double seconds(CollectiveKind kind, const GroupShape& shape) {
  return collective_time(kind, Bytes{1e9}, shape, ideal_calibration()).total.expected.value;
}

/// 24 data ranks on three nodes of eight GPUs, experts over `ranks` of them.
Plan with_expert_groups(std::int64_t ranks) {
  Scenario scenario = small_scenario();
  scenario.cluster = round_cluster(3, 8);
  scenario.model.moe.experts = ranks;
  scenario.model.moe.top_k = 2;
  scenario.model.moe.ffn_hidden = 512;
  scenario.run.parallel.tensor = 1;
  scenario.run.parallel.data = 24;
  scenario.run.parallel.expert = ranks;
  scenario.run.batch = {24, 1};
  return make_plan(scenario);
}

}  // namespace

TEST_CASE("the node with the fewest ranks of a group sets the pace of its ring") {
  // Every GPU has a NIC of 10 GB/s. Nine ranks: the ring passes the lone one through a single NIC.
  const Topology topology = build_topology(round_cluster(2, 8));
  const GroupShape lone = shape_of(topology, gpus(0, 9));
  CHECK(lone.nodes == 2);
  CHECK(lone.ranks_per_node == 8);
  CHECK(seconds(CollectiveKind::all_reduce, lone) == Approx(10e-6 + 1e9 * 2 * 8 / 9 / 10e9));
  const GroupShape halves = shape_of(topology, gpus(3, 9));  // five and four
  CHECK(seconds(CollectiveKind::all_reduce, halves) == Approx(10e-6 + 1e9 * 2 * 8 / 9 / 40e9));
}

TEST_CASE("the lone rank of an all-to-all sends nearly all of its bytes through its own NIC") {
  const Topology topology = build_topology(round_cluster(2, 8));
  CHECK(seconds(CollectiveKind::all_to_all, shape_of(topology, gpus(0, 9))) == Approx(1e9 * 8 / 9 / 10e9));
  // Five and four: a rank of the four sends 5/9 through its NIC, one of the five 4/9.
  CHECK(seconds(CollectiveKind::all_to_all, shape_of(topology, gpus(3, 9))) == Approx(1e9 * 5 / 9 / 10e9));
}

TEST_CASE("GPUs share a NIC with those of the job only, wherever the job lies") {
  // Two NICs for eight GPUs. Nine ranks from GPU 0 leave one GPU of the job on the second node.
  const Topology topology = build_topology(round_cluster(4, 2));
  CHECK(shape_of(topology, gpus(0, 2, 8), 16).nic_sharers == Approx(4));
  CHECK(shape_of(topology, gpus(8, 1), 9).nic_sharers == 1);
  CHECK(shape_of(topology, gpus(16, 2, 8), 16).nic_sharers == Approx(4));  // placed on the last two of four nodes
}

TEST_CASE("the slower of a group in a node and one across two is the one across, as it lies") {
  const Topology topology = build_topology(round_cluster(2, 8));
  const GroupShape inside = shape_of(topology, gpus(0, 6)), across = shape_of(topology, gpus(6, 6));
  CHECK(slower_of(inside, across) == across);
  CHECK(slower_of(across, inside) == across);
}

TEST_CASE("a step waits for the expert group that lies on two nodes") {
  const Topology topology = build_topology(round_cluster(3, 8));
  // Ranks 0 to 5 are on one node, 6 to 11 on two: two and four.
  const GroupShape straddles = worst_shape(with_expert_groups(6), topology, Axis::expert);
  CHECK(straddles == shape_of(topology, gpus(6, 6), 24));
  CHECK(straddles.nodes == 2);
  CHECK(straddles.inter_achieved.value == Approx(20e9));
  CHECK(worst_shape(with_expert_groups(4), topology, Axis::expert).nodes == 1);
  CHECK(worst_shape(with_expert_groups(8), topology, Axis::expert).nodes == 1);
  CHECK(worst_shape(with_expert_groups(24), topology, Axis::expert).nodes == 3);
}

TEST_CASE("a fault of every node costs what it costs when all nodes are listed") {
  const auto slowest = [](const FaultSpec& fault) {
    Scenario scenario = small_scenario();
    scenario.cluster = round_cluster(4, 8);
    scenario.run.parallel.tensor = 1;
    scenario.run.parallel.data = 32;
    scenario.run.batch = {32, 1};
    scenario.cluster.faults = {fault};
    const Topology topology = build_topology(scenario.cluster);
    const Plan plan = make_plan(scenario);
    const CostModel costs = make_cost_model(plan, topology, ideal_calibration());
    const RankTimes times = time_bodies_by_rank(costs, make_bodies(plan), plan, topology);
    return times.at(PipelineRank(0)).front().total.expected.value;
  };
  FaultSpec fault;
  fault.kind = FaultKind::gpu;
  fault.device = "gpu3";
  fault.left = 0.5;
  FaultSpec listed = fault;
  listed.nodes = {0, 1, 2, 3};
  CHECK(slowest(fault) == slowest(listed));
  FaultSpec none = fault;
  none.left = 1;
  CHECK(slowest(fault) > 1.9 * slowest(none));
}

#include <catch2/catch.hpp>
#include <cmath>

#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

double all_reduce(double bytes, const Topology& topology, const std::vector<GpuId>& members,
                  const Calibration& calibration) {
  return collective_time(CollectiveKind::all_reduce, Bytes{bytes}, shape_of(topology, members), calibration)
      .total.expected.value;
}

}  // namespace

TEST_CASE("inside a node an all-reduce takes its latency and 2(n-1)/n of its bytes over the bus bandwidth") {
  const Topology topology = build_topology(round_cluster(1, 0));
  const Calibration calibration = ideal_calibration();
  CHECK(all_reduce(1e9, topology, gpus(0, 8), calibration) == Approx(10e-6 + 1e9 * 14 / 8 / 100e9));
  CHECK(all_reduce(1e9, topology, gpus(0, 2), calibration) == Approx(10e-6 + 1e9 / 100e9));
  CHECK(all_reduce(1e9, topology, gpus(3, 1), calibration) == 0);
  CHECK(all_reduce(0, topology, gpus(0, 8), calibration) == 0);
}

TEST_CASE("a measured law goes with the links of the GPUs, and on other links it is borrowed") {
  const auto time_at = [](double link_GBps, double measured_GBps) {
    ClusterSpec cluster = round_cluster(1, 0);
    for (WireSpec& wire : cluster.node.wires) {
      if (wire.kind == LinkKind::nvlink) wire.nominal = wire.achieved = BytesPerSecond{link_GBps * 1e9};
    }
    Calibration calibration = ideal_calibration();
    for (auto& [name, law] : calibration.collectives) law.link_GBps = measured_GBps;
    return collective_time(CollectiveKind::all_reduce, Bytes{1e9}, shape_of(build_topology(cluster), gpus(0, 8)),
                           calibration)
        .total;
  };
  const auto wire_s = [](double GBps) { return 10e-6 + 1e9 * 14 / 8 / (GBps * 1e9); };
  CHECK(time_at(100, 100).expected.value == Approx(wire_s(100)));
  CHECK(time_at(50, 100).expected.value == Approx(wire_s(50)));
  CHECK(time_at(300, 100).expected.value == Approx(wire_s(300)));
  CHECK(time_at(100.5, 100).expected.value == time_at(100, 100).expected.value);  // the same links, rounded otherwise
  CHECK(time_at(50, 0).expected.value == Approx(wire_s(100)));  // nobody knows what it was measured on
  CHECK(time_at(100, 100).evidence == Evidence::measured);
  CHECK(time_at(50, 100).evidence == Evidence::borrowed);
}

TEST_CASE("every shipped machine achieves what its laws were measured over, or has other links") {
  // The four A100 of a Perlmutter node have three bundles of four NVLinks each, as many as those of a DGX A100.
  for (const char* name : {"selene", "perlmutter-40gb", "eos", "hgx-h200", "hgx-b200", "dgx-2", "jean-zay-v100"}) {
    INFO(name);
    const ClusterSpec cluster = load_cluster(name, shipped_library());
    const Calibration calibration = load_calibration(cluster.calibration, shipped_library());
    const double link = calibration.collectives.at("node/all_reduce").link_GBps;
    const Topology topology = build_topology(cluster);
    CHECK(shape_of(topology, gpus(0, topology.gpus_per_node)).links_of_gpu.value == Approx(link * 1e9).epsilon(0.01));
  }
}

TEST_CASE("an all-gather and a reduce-scatter together take what an all-reduce takes, and one latency more") {
  const Topology topology = build_topology(round_cluster(1, 0));
  const GroupShape shape = shape_of(topology, gpus(0, 8));
  const Calibration calibration = ideal_calibration();
  const auto seconds = [&](CollectiveKind kind) {
    return collective_time(kind, Bytes{1e9}, shape, calibration).total.expected.value;
  };
  CHECK(seconds(CollectiveKind::all_gather) + seconds(CollectiveKind::reduce_scatter) ==
        Approx(seconds(CollectiveKind::all_reduce) + 10e-6));
}

TEST_CASE("across nodes the ring runs at the rate of the NICs that its GPUs are nearest to") {
  const Topology topology = build_topology(round_cluster(4, 8));
  const Calibration calibration = ideal_calibration();
  // One GPU per node: one NIC of 10 GB/s; four ranks. All GPUs: eight NICs; 32 ranks and a node's latency.
  CHECK(all_reduce(1e9, topology, gpus(0, 4, 8), calibration) == Approx(1e9 * 2 * 3 / 4 / 10e9));
  CHECK(all_reduce(1e9, topology, gpus(0, 32), calibration) == Approx(10e-6 + 1e9 * 2 * 31 / 32 / 80e9));
}

TEST_CASE("groups that share a NIC are told what they lose to each other") {
  const Topology topology = build_topology(round_cluster(4, 4));
  const std::vector<GpuId> one_per_node = gpus(0, 4, 8);
  const GroupShape shape = shape_of(topology, one_per_node);
  CHECK(shape.nic_sharers == 2);  // two GPUs to a NIC
  const CollectiveTime time = collective_time(CollectiveKind::all_reduce, Bytes{1e9}, shape, ideal_calibration());
  CHECK(time.shared.value == Approx(2 * time.total.expected.value));
  CHECK(shape_of(topology, gpus(0, 32)).nic_sharers == 1);
}

TEST_CASE("many nodes are reached over a tree when a ring would take longer") {
  Calibration calibration = ideal_calibration();
  calibration.constants["inter_hop_us"].value = 20;
  calibration.constants["inter_level_us"].value = 100;
  calibration.constants["inter_level_small_us"].value = 100;
  const GroupShape few{2, 2, 1, LinkKind::nvlink, false, {0}, {10e9}, 1, {10e9}, 1, 1};
  const GroupShape many{64, 64, 1, LinkKind::nvlink, false, {0}, {10e9}, 1, {10e9}, 1, 1};
  const CollectiveTime ring = collective_time(CollectiveKind::all_reduce, Bytes{1e6}, few, calibration);
  const CollectiveTime tree = collective_time(CollectiveKind::all_reduce, Bytes{1e6}, many, calibration);
  CHECK(std::string(ring.algorithm) == "ring");
  CHECK(ring.latency.value == Approx(2 * 1 * 20e-6));
  CHECK(std::string(tree.algorithm) == "tree");
  CHECK(tree.latency.value == Approx(6 * 100e-6));
}

TEST_CASE("a send takes its latency and its bytes over the slowest link of the route") {
  const Topology topology = build_topology(round_cluster(2, 8));
  Calibration calibration = ideal_calibration();
  calibration.constants["transfer_latency_us"].value = 20;
  Route route;
  find_route(topology, GpuId{0}, GpuId{1}, route);
  CHECK(transfer_time(Bytes{1e9}, route, calibration).total.expected.value == Approx(20e-6 + 1e9 / 100e9));
  find_route(topology, GpuId{0}, GpuId{8}, route);
  CHECK(transfer_time(Bytes{1e9}, route, calibration).total.expected.value ==
        Approx(20e-6 + route.latency.value + 1e9 / 10e9));
  find_route(topology, GpuId{0}, GpuId{0}, route);
  CHECK(transfer_time(Bytes{1e9}, route, calibration).total.expected.value == 0);
}

TEST_CASE("copies through host memory run at the staging rate") {
  const Topology topology = build_topology(round_cluster(1, 0));
  Calibration calibration = ideal_calibration();
  calibration.constants["host_staging_efficiency"].value = 0.5;
  Route route;
  find_route(topology, GpuId{0}, GpuId{1}, route);
  route.staged_through_host = true;
  CHECK(transfer_time(Bytes{1e9}, route, calibration).total.expected.value == Approx(2 * 1e9 / 100e9));
}

TEST_CASE("collectives on eight A100 take what nccl-tests measures") {
  // github.com/microsoft/superbenchmark tests/data/nccl_*.log: us by bytes.
  struct Row {
    CollectiveKind kind;
    double bytes, us;
  };
  const std::vector<Row> rows{
      {CollectiveKind::all_reduce, 1048576, 74.78},       {CollectiveKind::all_reduce, 16777216, 226.0},
      {CollectiveKind::all_reduce, 134217728, 1162.2},    {CollectiveKind::all_reduce, 1073741824, 8159.5},
      {CollectiveKind::all_gather, 16777216, 167.7},      {CollectiveKind::all_gather, 134217728, 698.6},
      {CollectiveKind::all_gather, 1073741824, 4413.4},   {CollectiveKind::reduce_scatter, 16777216, 152.4},
      {CollectiveKind::reduce_scatter, 134217728, 618.1}, {CollectiveKind::reduce_scatter, 1073741824, 4203.0}};
  const GroupShape shape = shape_of(build_topology(dgx_a100(1)), gpus(0, 8));
  const Calibration calibration = shipped("a100-hdr");
  for (const Row& row : rows) {
    CAPTURE(row.bytes, row.us);
    const double us = 1e6 * collective_time(row.kind, Bytes{row.bytes}, shape, calibration).total.expected.value;
    CHECK(us == Approx(row.us).epsilon(0.05));
  }
}

TEST_CASE("an all-reduce over two DGX A100 takes what was measured on two nodes of eight 200 Gb/s NICs") {
  // OCI BM.GPU.B4.8, nccl-tests: 8 GiB in 84.9 ms, bus bandwidth 189.6 GB/s; 1 GiB in 10.9 ms.
  const GroupShape shape = shape_of(build_topology(dgx_a100(2)), gpus(0, 16));
  const Calibration calibration = shipped("a100-hdr");
  const auto ms = [&](double bytes) {
    return 1e3 * collective_time(CollectiveKind::all_reduce, Bytes{bytes}, shape, calibration).total.expected.value;
  };
  CHECK(ms(8589934592) == Approx(84.95).epsilon(0.03));
  CHECK(ms(1073741824) == Approx(10.89).epsilon(0.03));
}

TEST_CASE("an all-to-all across nodes is bound by what leaves each GPU through its own NIC") {
  const Topology topology = build_topology(round_cluster(4, 8));
  const Calibration calibration = ideal_calibration();
  const auto seconds = [&](const std::vector<GpuId>& members) {
    return collective_time(CollectiveKind::all_to_all, Bytes{1e9}, shape_of(topology, members), calibration)
        .total.expected.value;
  };
  // Nothing starts up in this calibration. On two nodes eight of sixteen shares go to the other one, over 10 GB/s; on
  // four nodes 24 of 32. Seven go to neighbours over 100 GB/s in the meantime.
  CHECK(seconds(gpus(0, 16)) == Approx(1e9 * 8 / 16 / 10e9));
  CHECK(seconds(gpus(0, 32)) == Approx(1e9 * 24 / 32 / 10e9));
  // One GPU per node has no neighbours.
  CHECK(seconds(gpus(0, 4, 8)) == Approx(1e9 * 3 / 4 / 10e9));
  // Half the NICs: two GPUs to each.
  const GroupShape halved = shape_of(build_topology(round_cluster(2, 4)), gpus(0, 16));
  CHECK(collective_time(CollectiveKind::all_to_all, Bytes{1e9}, halved, calibration).total.expected.value ==
        Approx(1e9 * 8 / 16 / 5e9));
}

TEST_CASE("an all-to-all that fast NICs carry is bound by the links of the node") {
  GroupShape shape = shape_of(build_topology(round_cluster(2, 8)), gpus(0, 16));
  shape.inter_achieved = shape.crossing_achieved = {8 * 1e12};
  const CollectiveTime time = collective_time(CollectiveKind::all_to_all, Bytes{1e9}, shape, ideal_calibration());
  CHECK(time.total.expected.value == Approx(1e9 * 7 / 16 / 100e9));
  CHECK(time.wire_bytes.value == Approx(1e9 * 15 / 16));
}

TEST_CASE("of a token's copies those for one node cross the network once, and those for one rank come once") {
  Collective dispatch{CollectiveKind::all_to_all, Axis::expert, {1e6}};
  GroupShape shape;
  shape.ranks = 32;
  shape.nodes = 4;
  shape.ranks_per_node = shape.crossing_ranks = 8;
  CHECK(spread_of(dispatch, shape).across == Approx(24.0 / 32));
  CHECK(spread_of(dispatch, shape).inside == Approx(7.0 / 32));
  dispatch.copies = 2;
  // Two copies over four nodes meet on one node one time in four: 1.75 nodes instead of 2, three of four of them
  // remote. Over 32 ranks they meet on one rank one time in 32, and one of eight ranks is where the copy arrived.
  CHECK(spread_of(dispatch, shape).across == Approx(1.75 / 2 * 3 / 4));
  CHECK(spread_of(dispatch, shape).inside == Approx((2 - 1.0 / 32) / 2 * 7 / 8));
  dispatch.copies = 8;
  dispatch.most_nodes = 4;
  shape.nodes = 32;
  shape.ranks = 256;
  // 4 (1 - (3/4)^8) = 3.5995 nodes for eight copies, however many nodes there are.
  CHECK(spread_of(dispatch, shape).across == Approx(3.5995 / 8 * 31 / 32).epsilon(1e-4));
}

TEST_CASE("a dispatch inside a node carries one copy of a token to each rank") {
  const Topology topology = build_topology(round_cluster(1, 0));
  const GroupShape shape = shape_of(topology, gpus(0, 8));
  Collective dispatch{CollectiveKind::all_to_all, Axis::expert, {1e9}};
  const auto seconds = [&] { return collective_time(dispatch, shape, ideal_calibration()).total.expected.value; };
  CHECK(seconds() == Approx(1e9 * 7 / 8 / 100e9));
  dispatch.copies = 8;
  // 8 (1 - (7/8)^8) = 5.2512 ranks for eight copies.
  CHECK(seconds() == Approx(1e9 * 5.2512 / 8 * 7 / 8 / 100e9).epsilon(1e-4));
}

TEST_CASE("gradients that a node adds up first cross the network as one rank's share") {
  const Topology topology = build_topology(round_cluster(4, 8));
  Collective reduce{CollectiveKind::all_to_all, Axis::shard, {1e9}};
  reduce.reduced_in_node = true;
  const CollectiveTime time = collective_time(reduce, shape_of(topology, gpus(0, 32)), ideal_calibration());
  // An eighth of the bytes through 10 GB/s, three of four nodes; seven eighths over 100 GB/s beside it.
  CHECK(time.total.expected.value == Approx(std::max(1e9 / 8 * 3 / 4 / 10e9, 1e9 * 7 / 8 / 100e9)));
}

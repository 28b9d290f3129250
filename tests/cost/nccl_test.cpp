#include "cost/nccl.hpp"

#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "machines.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

NcclMachine hopper(int nodes, int ranks) {
  NcclMachine machine;
  machine.architecture = "hopper";
  machine.nodes = nodes;
  machine.ranks = ranks;
  machine.ring_in_node = 360;
  machine.network = 384;
  machine.peer = 376;
  machine.peer_network = 48;
  machine.nvls = 476;
  return machine;
}

}  // namespace

TEST_CASE("eight H200 reduce in LL rings up to 1 MiB and through the switch from 2 MiB on, as NCCL 2.27 does") {
  // github.com/stas00/ml-engineering network/README.md: Ring/LL up to 1 MiB, NVLS/Simple from 2 MiB.
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  const NcclCandidate small = nccl_choice(NcclOp::all_reduce, {0x1p16}, hopper(1, 8), tuner);
  CHECK(small.protocol == NcclProtocol::ll);
  const NcclCandidate large = nccl_choice(NcclOp::all_reduce, {0x1p22}, hopper(1, 8), tuner);
  CHECK(large.algorithm == NcclAlgorithm::nvls);
  CHECK(nccl_choice(NcclOp::all_gather, {0x1p30}, hopper(1, 8), tuner).algorithm == NcclAlgorithm::ring);
}

TEST_CASE("many nodes reduce over trees, with SHARP through the switches of the fabric") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  CHECK(nccl_choice(NcclOp::all_reduce, {0x1p30}, hopper(64, 512), tuner).algorithm == NcclAlgorithm::nvls_tree);
  NcclMachine machine = hopper(64, 512);
  machine.sharp = true;
  const NcclCandidate sharp = nccl_choice(NcclOp::all_reduce, {0x1p30}, machine, tuner);
  CHECK(sharp.algorithm == NcclAlgorithm::nvls);
  CHECK(sharp.bus == 476);  // NVIDIA GTC24 S62129: 480 GB/s with SHARP, 370 without
  CHECK_THROWS_AS(nccl_choice(NcclOp::all_reduce, {8}, hopper(2, 16), tuner, {NcclAlgorithm::collnet_chain}),
                  std::invalid_argument);
}

TEST_CASE("a ring pays 2 (n - 1) hops and moves 2 (n - 1) / n of the bytes over the slower of links and NICs") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  NcclMachine machine = hopper(1, 4);
  machine.nvls = 0;
  const NcclSystem plain;
  const NcclTime node = nccl_time(NcclOp::all_reduce, {0x1p34}, machine, tuner, plain, {NcclAlgorithm::ring});
  // Simple on NVLink: base 8.4, six hops of 3.4 us; 1.5 x 2^34 bytes at 360 GB/s.
  CHECK(node.total.value * 1e6 == Approx(8.4 + 6 * 3.4 + 1.5 * 0x1p34 / 360e3));
  const NcclTime across = nccl_time(NcclOp::all_gather, {0x1p34}, hopper(2, 16), tuner, plain);
  // Fifteen steps, one of them over the network (14 us); links inside are the slower ones.
  CHECK(across.total.value * 1e6 == Approx(8.4 + 14 * 3.4 + 14 + 15.0 / 16 * 0x1p34 / 360e3));
  machine = hopper(2, 16);
  machine.network = 100;
  CHECK(nccl_time(NcclOp::all_gather, {0x1p34}, machine, tuner, plain).bus_GBps == Approx(100).epsilon(0.001));
}

TEST_CASE("all-to-all across nodes is bound by one NIC per GPU") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  const NcclTime time = nccl_time(NcclOp::all_to_all, {0x1p33}, hopper(4, 32), tuner, NcclSystem{});
  CHECK(time.bus_GBps == Approx(48).epsilon(0.01));
  CHECK(time.ran.algorithm == NcclAlgorithm::p2p);
}

TEST_CASE("an all-to-all in two tiers moves rows inside the node first, and only when it is asked for") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  const std::vector<NcclAlgorithm> two_tier{NcclAlgorithm::two_tier};
  const NcclTime time = nccl_time(NcclOp::all_to_all, {0x1p33}, hopper(4, 32), tuner, NcclSystem{}, two_tier);
  // 7 of 8 parts over NVLink (376 GB/s), then 3 of 4 over the own NIC (48 GB/s); a hop of 3.4 us and one of 14.
  CHECK(time.total.value * 1e6 == Approx(3.4 + 14 + 0x1p33 * (0.875 / 376e3 + 0.75 / 48e3)));
  // A flat one sends 31 of 32 parts over the NIC, which counts on two nodes of eight: 15/16 against 1/2 and 7/8 of
  // NVLink.
  const auto on_two = [&](const std::vector<NcclAlgorithm>& only) {
    return nccl_time(NcclOp::all_to_all, {0x1p33}, hopper(2, 16), tuner, NcclSystem{}, only).total.value;
  };
  CHECK(on_two({}) / on_two(two_tier) == Approx((15.0 / 16 / 48) / (0.5 / 48 + 0.875 / 376)).epsilon(0.001));
  CHECK(nccl_choice(NcclOp::all_to_all, {0x1p33}, hopper(2, 16), tuner).algorithm == NcclAlgorithm::p2p);
  CHECK_THROWS_AS(nccl_choice(NcclOp::all_to_all, {8}, hopper(1, 8), tuner, two_tier), std::invalid_argument);
}

TEST_CASE("a system's rates scale each tier by its own") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  NcclSystem system;
  system.peer_us = 5;
  system.peer_rate = 0.5;
  system.peer_network_rate = 0.8;
  const NcclTime time =
      nccl_time(NcclOp::all_to_all, {0x1p33}, hopper(4, 32), tuner, system, {NcclAlgorithm::two_tier});
  CHECK(time.total.value * 1e6 == Approx(2 * 5 + 3.4 + 14 + 0x1p33 * (0.875 / 188e3 + 0.75 / 38.4e3)));
}

TEST_CASE("without NVLink there is no LL128, and one GPU per node gathers over parallel trees") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  NcclMachine machine = hopper(1, 8);
  machine.nvlink = false;
  for (const NcclCandidate& candidate : nccl_candidates(NcclOp::all_reduce, machine, tuner)) {
    CHECK(candidate.protocol != NcclProtocol::ll128);
  }
  NcclMachine single = hopper(4, 4);
  single.ring_in_node = 0;
  const auto ways = nccl_candidates(NcclOp::all_gather, single, tuner);
  CHECK(ways.back().algorithm == NcclAlgorithm::pat);
}

TEST_CASE("DGX A100 and DGX H100 are seen as NCCL's search ends: 240 and 360 GB/s inside, 192 and 384 between") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  const struct {
    const char* cluster;
    double ring, network, nvls;
  } rows[] = {{"selene", 240, 192, 0}, {"eos", 360, 384, 476}};
  for (const auto& row : rows) {
    const ClusterSpec cluster = load_cluster(row.cluster, shipped_library());
    const Topology topology = build_topology(cluster);
    const NcclMachine machine = nccl_machine(topology, 32, tuner, shipped(cluster.calibration));
    CHECK(machine.nodes == 4);
    CHECK(machine.ring_in_node == Approx(row.ring));
    CHECK(machine.network == Approx(row.network));
    CHECK(machine.nvls == Approx(row.nvls));
  }
}

TEST_CASE("a cluster takes the calibration that names it, for its number of nodes; an unknown name is refused") {
  const std::vector<NcclSystem> systems = load_nccl_systems(shipped_library());
  const ClusterSpec p5 = load_cluster("aws-p5", shipped_library());
  CHECK(find_nccl_system(systems, p5, 1, "").name == "p5.48xlarge: 8x H100-80GB NVLS");
  CHECK(find_nccl_system(systems, p5, 4, "").min_nodes == 2);
  CHECK(find_nccl_system(systems, load_cluster("selene", shipped_library()), 1, "").name == "generic ampere");
  CHECK_THROWS_AS(find_nccl_system(systems, p5, 1, "no such"), InputError);
}

TEST_CASE("NVLSTree passes on smaller chunks where larger ones would leave channels idle, as calcCollChunking says") {
  const NcclTuner tuner = load_nccl_tuner(shipped_library());
  constexpr double kib = 1024, mib = 1024 * kib;
  // 16 channels x 8 heads x 64 KiB = 8 MiB in flight.
  CHECK(nvls_tree_chunk({8 * mib - 1}, hopper(8, 64), tuner).value == 32 * kib);
  CHECK(nvls_tree_chunk({8 * mib}, hopper(8, 64), tuner).value == 64 * kib);
  CHECK(nvls_tree_chunk({1024 * mib}, hopper(8, 64), tuner).value == 64 * kib);
  CHECK(nvls_tree_chunk({64 * mib - 1}, hopper(2, 16), tuner).value == 64 * kib);
  CHECK(nvls_tree_chunk({64 * mib}, hopper(2, 16), tuner).value == 128 * kib);
}

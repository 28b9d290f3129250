#pragma once
// Collectives as NCCL runs them: the algorithm and protocol that its tuner chooses, and the time they take on an idle
// network. The tuner's constants are topologies/nccl/tuner.json, its rule is github.com/NVIDIA/nccl 2.30.7
// src/graph/tuning.cc. Its own time is 10 to 35 % short between 1 and 256 MiB and lacks the launch, so a fit of a few
// constants per system (topologies/nccl/systems.json) turns it into the time that nccl-tests prints.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cost/collective_time.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

enum class NcclOp : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, sendrecv };
enum class NcclAlgorithm : std::uint8_t {
  tree,
  ring,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat,
  p2p,
  two_tier
};
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };

const char* to_text(NcclOp op);
const char* to_text(NcclAlgorithm algorithm);
const char* to_text(NcclProtocol protocol);
std::vector<std::string> nccl_op_names();
NcclOp nccl_op_of(const std::string& name);  // std::invalid_argument for an unknown one

std::vector<std::string> nccl_algorithm_names();
NcclAlgorithm nccl_algorithm_of(const std::string& name);  // the same

/// nccl-tests' factor from algorithm to bus bandwidth (doc/PERFORMANCE.md).
double nccl_bus_factor(NcclOp op, std::int32_t ranks);

using NcclTriple = std::array<double, 3>;

/// What the tuner knows of one GPU generation. Triples of rates: 1 node, 2 nodes, more.
struct NcclArchitecture {
  std::int32_t channels = 0;
  std::int32_t nvls_channels = 0;    // of reductions in the switch
  double ring_channel = 0;           // GB/s per channel of a ring inside a node with NVSwitch
  double nvls = 0;                   // GB/s of bus bandwidth through the switch; 0: it does not reduce
  std::int32_t nvls_from_ranks = 0;  // ranks of a node from which on it is used
  NcclTriple ll_max{}, ring_ll128_channel{}, tree_ll128_channel{}, tree_channel{}, nvls_tree_channel{};
};

struct NcclTuner {
  std::map<std::string, NcclTriple> base;                         // us, by algorithm; LL, LL128, Simple
  std::map<std::string, std::map<std::string, NcclTriple>> hops;  // us, by "nvlink" | "pcie" | "network", algorithm
  double network_overhead = 0, simple_overhead_factor = 1;        // us; Simple pays the product
  std::array<std::vector<double>, 3> tree_correction;             // by protocol, floor(log2(bytes / 64))
  std::map<std::string, NcclArchitecture> architectures;
};

/// What a communicator runs on. Rates are bus bandwidths in GB/s.
struct NcclMachine {
  std::string architecture;  // "ampere", ...
  std::int32_t nodes = 1, ranks = 1;
  bool nvlink = true;       // else PCIe inside a node
  double ring_in_node = 0;  // 0: one rank per node
  double network = 0;       // of the NICs of a node together; 0: one node
  double peer = 0;          // one GPU to another inside a node
  double peer_network = 0;  // one GPU to another across nodes
  double nvls = 0;          // through the switch; 0: not there
  bool sharp = false;       // the fabric's switches reduce
};

/// What a system adds to the tuner's time, fitted to its nccl-tests tables; every value 1 or 0 leaves the tuner's.
struct NcclSystem {
  std::string name, source;
  std::string hardware;               // the same for systems whose tables may be compared
  std::vector<std::string> clusters;  // names of topologies/clusters that it is the default of
  std::int32_t min_nodes = 1;         // the default of its clusters from so many nodes on
  std::string architecture;
  double host_us = 0;           // launch and synchronisation
  double latency_scale = 1;     // of the tuner's latencies
  double levels_hidden = 0;     // levels of a tree across nodes that the work inside the nodes hides
  double fill_us = 0;           // us per level of a tree between switches for the first 64 KiB chunk to pass
  double sqrt_us = 0;           // us per sqrt(byte): LL128 and Simple filling their pipeline
  double low_latency_rate = 1;  // LL: of the tuner's rate
  double ring_rate = 1;         // ring and tree, LL128 and Simple
  double nvls_rate = 1;
  double peer_us = 0, peer_rate = 1;  // all-to-all, send and receive
  double peer_network_rate = 1;       // the same across nodes
  double pair_GBps = 0;               // that the channels of one pair carry; 0: as much as the GPU's links
  NcclMachine machine;                // as the tables of this system ran; nodes and ranks are theirs
};

NcclTuner load_nccl_tuner(const Library& library);
std::vector<NcclSystem> load_nccl_systems(const Library& library);
/// The system that names the cluster and needs no more nodes, the one for most nodes; else the generic one of its
/// architecture, else the tuner's own constants; throws InputError if `wanted` is not ""
/// and no system has this name.
NcclSystem find_nccl_system(const std::vector<NcclSystem>& systems, const ClusterSpec& cluster, std::int32_t nodes,
                            const std::string& wanted);

/// The communicator over the first `gpus` GPUs of a cluster.
NcclMachine nccl_machine(const Topology& topology, std::int64_t gpus, const NcclTuner& tuner,
                         const Calibration& calibration);

/// One way to run it, as the tuner sees it.
struct NcclCandidate {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double latency_us = 0, level_us = 0;  // level_us: of the latency, one level of the tree across nodes
  double bus = 0;                       // GB/s
};
std::vector<NcclCandidate> nccl_candidates(NcclOp op, const NcclMachine& machine, const NcclTuner& tuner);

/// The tuner's choice for so many bytes: the least of its own times. `only` (empty: all) restricts the algorithms, as
/// NCCL_ALGO does; throws std::invalid_argument if none of them can run.
NcclCandidate nccl_choice(NcclOp op, Bytes bytes, const NcclMachine& machine, const NcclTuner& tuner,
                          const std::vector<NcclAlgorithm>& only = {});

/// Bytes that NVLSTree passes on at a time: 128 KiB, from 4 nodes on 64 KiB, and less where these would not occupy all
/// channels and heads (github.com/NVIDIA/nccl src/enqueue.cc, calcCollChunking).
Bytes nvls_tree_chunk(Bytes bytes, const NcclMachine& machine, const NcclTuner& tuner);

/// Whether frameworks run it and NCCL itself never chooses it. That is the all-to-all in two tiers (Tutel's 2DH, arXiv
/// 2206.03382 section 4.3; DeepSpeed-MoE, arXiv 2201.05596 section 5.1): rows are first exchanged inside each node, so
/// that every GPU then sends one message to its sibling on each other node instead of one per GPU there. The passes
/// that lay rows out between the tiers are not counted.
bool is_of_frameworks(NcclAlgorithm algorithm);

/// Its seconds per 1e9 bytes, both tiers one after the other, at these fractions of the links' and NICs' rates.
double two_tier_seconds_per_GB(const NcclMachine& machine, double peer_rate = 1, double network_rate = 1);

struct NcclTime {
  Seconds total;
  double algorithm_GBps = 0, bus_GBps = 0;
  NcclCandidate ran;
};
/// `bytes` is nccl-tests' size: all-reduce buffer, all-gather output, reduce-scatter input.
NcclTime nccl_time(NcclOp op, Bytes bytes, const NcclMachine& machine, const NcclTuner& tuner, const NcclSystem& system,
                   const std::vector<NcclAlgorithm>& only = {});

}  // namespace stagecraft

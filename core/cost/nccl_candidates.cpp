// NCCL's tuner: ncclTopoTuneModel of github.com/NVIDIA/nccl 2.30.7 src/graph/tuning.cc. Bus bandwidth of every
// algorithm and protocol, and its latency.

#include <algorithm>
#include <cmath>

#include "cost/nccl.hpp"

namespace stagecraft {
namespace {

constexpr std::array protocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};

struct View {
  const NcclMachine& machine;
  const NcclTuner& tuner;
  const NcclArchitecture& gpu;

  double ranks() const { return machine.ranks; }
  double nodes() const { return machine.nodes; }
  double per_node() const { return std::ceil(ranks() / nodes()); }
  std::size_t column() const { return static_cast<std::size_t>(std::min(machine.nodes, 3) - 1); }
  double hop(const char* link, const char* algorithm, NcclProtocol protocol) const {
    return tuner.hops.at(link).at(algorithm)[static_cast<std::size_t>(protocol)];
  }
  double inside(const char* algorithm, NcclProtocol protocol) const {
    return hop(machine.nvlink ? "nvlink" : "pcie", algorithm, protocol);
  }
  double base(const char* algorithm, NcclProtocol protocol) const {
    return tuner.base.at(algorithm)[static_cast<std::size_t>(protocol)];
  }
  double levels() const { return std::floor(std::log2(nodes())); }
  // All channels of a ring or tree together: the slower of a node's links and its NICs.
  double bus() const {
    if (machine.nodes <= 1) return machine.ring_in_node;
    return machine.ring_in_node > 0 ? std::min(machine.ring_in_node, machine.network) : machine.network;
  }
  // Low-latency lines: by the GPU on one node; across nodes the hosts' links decide (tuning.cc, llMaxBws).
  double ll_max() const {
    const auto host = tuner.architectures.find("volta");
    return machine.nodes > 1 && host != tuner.architectures.end() ? host->second.ll_max[column()] : gpu.ll_max[0];
  }
  // LL128 needs NVLink (tuning.cc, "LL128 is only enabled on NVLink").
  bool runs(NcclProtocol protocol) const { return protocol != NcclProtocol::ll128 || machine.nvlink; }
};

NcclCandidate ring(NcclOp op, NcclProtocol protocol, const View& view) {
  const double ranks = view.ranks(), nodes = view.nodes();
  const bool reduces = op == NcclOp::all_reduce;
  const double steps = reduces                                                    ? 2 * (ranks - 1)
                       : op == NcclOp::all_gather || op == NcclOp::reduce_scatter ? ranks - 1
                                                                                  : ranks;
  const double across = nodes > 1 ? (reduces ? 2 : 1) * (nodes - 1) : 0;
  double inside = view.inside("ring", protocol);
  if (nodes > 1) {
    const double factor = protocol == NcclProtocol::simple ? view.tuner.simple_overhead_factor : 1;
    inside = std::max(inside, view.tuner.network_overhead * factor);
  }
  double bus = view.bus();
  if (protocol == NcclProtocol::ll) bus = std::min(view.ll_max(), 0.5 * bus);
  if (protocol == NcclProtocol::ll128) {
    bus = std::min(0.92 * bus, view.gpu.channels * view.gpu.ring_ll128_channel[view.column()]);
  }
  const double latency =
      view.base("ring", protocol) + (steps - across) * inside + across * view.hop("network", "ring", protocol);
  return {NcclAlgorithm::ring, protocol, latency, 0, bus * ranks / steps * nccl_bus_factor(op, view.machine.ranks)};
}

NcclCandidate tree(NcclProtocol protocol, const View& view) {
  const double channels = view.gpu.channels;
  const double inside = view.per_node() > 1 ? view.inside("tree", protocol) : view.hop("network", "tree", protocol);
  double bus = std::min(0.92 * view.bus(), channels * view.gpu.tree_channel[view.column()]);
  if (protocol == NcclProtocol::ll) bus = std::min(bus / 3.8, view.ll_max());
  if (protocol == NcclProtocol::ll128) {
    bus = std::min(bus * (view.nodes() <= 1 ? 7.0 / 9 : 120.0 / 128),
                   channels * view.gpu.tree_ll128_channel[view.column()]);
  }
  const double level = 2 * view.hop("network", "tree", protocol);
  const double latency = view.base("tree", protocol) + 2 * (view.per_node() - 1) * inside + view.levels() * level;
  return {NcclAlgorithm::tree, protocol, latency, level,
          0.5 * bus * nccl_bus_factor(NcclOp::all_reduce, view.machine.ranks)};
}

// Reduction in the NVSwitch of every node; across nodes by the switches of the fabric (NVLS with SHARP) or by a tree.
void add_nvls(std::vector<NcclCandidate>& out, const View& view) {
  const NcclMachine& machine = view.machine;
  if (machine.nvls <= 0) return;
  const double inside = view.inside("nvls", NcclProtocol::simple);
  if (machine.nodes <= 1) {
    out.push_back({NcclAlgorithm::nvls, NcclProtocol::simple, inside, 0, machine.nvls});
    return;
  }
  if (machine.sharp) {
    out.push_back({NcclAlgorithm::nvls, NcclProtocol::simple,
                   inside + view.hop("network", "nvls", NcclProtocol::simple), 0,
                   std::min(machine.nvls, 2 * machine.network)});
  }
  const double level = 2 * view.hop("network", "nvls_tree", NcclProtocol::simple);
  const double network = machine.network * (machine.nodes == 2 ? 2 : 1);
  const double channels = view.gpu.channels * view.gpu.nvls_tree_channel[view.column()];
  out.push_back({NcclAlgorithm::nvls_tree, NcclProtocol::simple, inside + view.levels() * level, level,
                 std::min({machine.nvls, network, channels})});
}

void add_collnet(std::vector<NcclCandidate>& out, const View& view) {
  if (!view.machine.sharp || view.machine.nodes < 2) return;
  const double factor = 0.5 * nccl_bus_factor(NcclOp::all_reduce, view.machine.ranks);
  const double peers = view.per_node() - 1;
  const double bus = std::min(view.machine.ring_in_node > 0 ? view.machine.ring_in_node : view.machine.network,
                              2 * view.machine.network);
  const double generation = view.gpu.nvls > 0 ? 0.85 : 1;  // from Hopper on
  out.push_back({NcclAlgorithm::collnet_direct, NcclProtocol::simple,
                 2 * (std::min(1.0, peers) * view.inside("collnet_direct", NcclProtocol::simple) + peers * 0.4) +
                     view.hop("network", "collnet_direct", NcclProtocol::simple),
                 0, bus * generation * factor});
  out.push_back({NcclAlgorithm::collnet_chain, NcclProtocol::simple,
                 2 * peers * view.inside("collnet_chain", NcclProtocol::simple) +
                     view.hop("network", "collnet_chain", NcclProtocol::simple),
                 0, bus * factor});
}

// Parallel aggregated trees, for one rank per node.
void add_pat(std::vector<NcclCandidate>& out, NcclOp op, const View& view) {
  if (view.machine.nodes < 2 || view.per_node() > 1) return;
  const double level = view.hop("network", "pat", NcclProtocol::simple) / 3.5;
  out.push_back({NcclAlgorithm::pat, NcclProtocol::simple,
                 view.base("pat", NcclProtocol::simple) + std::log2(view.nodes()) * level + 2.8 * view.ranks(), level,
                 0.75 * view.bus() * view.ranks() / (view.ranks() - 1) * nccl_bus_factor(op, view.machine.ranks)});
}

// Every pair of ranks at once. All-to-all does not gather NICs: a GPU sends all it has through its own
// (NVIDIA/nccl-tests#267).
NcclCandidate point_to_point(NcclOp, const View& view) {
  const bool network = view.machine.nodes > 1;
  const double hop =
      network ? view.hop("network", "ring", NcclProtocol::simple) : view.inside("ring", NcclProtocol::simple);
  return {NcclAlgorithm::p2p, NcclProtocol::simple, hop, 0, network ? view.machine.peer_network : view.machine.peer};
}

NcclCandidate two_tier(const View& view) {
  const double latency = view.inside("ring", NcclProtocol::simple) + view.hop("network", "ring", NcclProtocol::simple);
  return {NcclAlgorithm::two_tier, NcclProtocol::simple, latency, 0,
          nccl_bus_factor(NcclOp::all_to_all, view.machine.ranks) / two_tier_seconds_per_GB(view.machine)};
}

}  // namespace

bool is_of_frameworks(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::two_tier;
}

double two_tier_seconds_per_GB(const NcclMachine& machine, double peer_rate, double network_rate) {
  const double nodes = machine.nodes, per_node = std::ceil(machine.ranks / nodes);
  const double inside = 1 - 1 / per_node, across = 1 - 1 / nodes;
  return inside / (machine.peer * peer_rate) + across / (machine.peer_network * network_rate);
}

std::vector<NcclCandidate> nccl_candidates(NcclOp op, const NcclMachine& machine, const NcclTuner& tuner) {
  const View view{machine, tuner, tuner.architectures.at(machine.architecture)};
  std::vector<NcclCandidate> out;
  if (op == NcclOp::all_to_all || op == NcclOp::sendrecv) {
    out.push_back(point_to_point(op, view));
    const bool has_tiers = machine.nodes > 1 && view.per_node() > 1 && machine.peer > 0;
    if (op == NcclOp::all_to_all && has_tiers) out.push_back(two_tier(view));
    return out;
  }
  for (const NcclProtocol protocol : protocols) {
    if (view.runs(protocol)) out.push_back(ring(op, protocol, view));
  }
  if (op == NcclOp::all_gather || op == NcclOp::reduce_scatter) add_pat(out, op, view);
  if (op != NcclOp::all_reduce) return out;
  for (const NcclProtocol protocol : protocols) {
    if (view.runs(protocol)) out.push_back(tree(protocol, view));
  }
  add_collnet(out, view);
  add_nvls(out, view);
  return out;
}

}  // namespace stagecraft

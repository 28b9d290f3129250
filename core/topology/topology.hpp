#pragma once
// The resolved cluster: GPUs, links with ids, and the route between any two GPUs. Knows no jobs.
// Link ids are arithmetic (node * links_per_node + offset, then the fabric), so a cluster of 100,000 GPUs costs no
// per-link memory.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/units.hpp"
#include "spec/cluster_spec.hpp"

namespace stagecraft {

/// One direction of a wire, a NIC port or a fabric trunk.
struct Link {
  std::string name;  // "node3/gpu0->nvswitch", "leaf-group2/rail5/up"
  LinkKind kind = LinkKind::nvlink;
  BytesPerSecond nominal, achieved;
  Seconds latency;
  double left = 1;  // of the achieved rate that it would have without faults; `achieved` is what is left
};

struct Route {
  std::vector<LinkId> links;         // in the order passed; empty: same GPU
  Seconds latency;                   // sum over links and switches
  BytesPerSecond bottleneck;         // least achieved rate of its links
  bool staged_through_host = false;  // no peer-to-peer: the copy passes host memory
};

/// The inside of a node with its faults.
struct NodeWiring {
  std::size_t kind = 0;  // of its node: kind_of_node
  NodeSpec wired;        // as faults leave it
  std::vector<Link>
      node_links;  // template: both directions of every wire, then NIC up and down; named without the node
  std::vector<std::vector<std::int32_t>> inside;  // [gpu * gpus_per_node + gpu] -> node_links passed
  std::vector<std::vector<std::int32_t>>
      to_nic;  // [gpu] -> node_links from the GPU to its nearest NIC, NIC port included
  std::vector<std::vector<std::int32_t>> from_nic;
  std::vector<std::int32_t> nic_of_gpu;  // -1: no NIC
  std::vector<std::int32_t> relay;  // [gpu * Topology::nics_per_node + rail] -> GPU that a copy moves to over NVLink
                                    // first, to leave on that rail; the GPU itself if there is none
  std::vector<std::uint8_t> staged_inside;  // [gpu * gpus_per_node + gpu] -> passes host memory
  std::vector<std::uint8_t> staged_to_nic;  // [gpu]
  std::vector<double> gpu_speed;            // [gpu], 1 without faults
  std::vector<std::array<BytesPerSecond, 3>>
      links_of_gpu;  // [gpu][LinkKind] all its wires of a kind inside the node together, one way, without faults
};

/// Its own wiring is that of all nodes but those of `variant_of`.
struct Topology : NodeWiring {
  ClusterSpec cluster;
  std::int32_t gpus_per_node = 0;
  std::int32_t nics_per_node = 0;                  // of the kind of node that has the most; others leave numbers out
  std::int32_t links_per_node = 0;                 // the same
  std::vector<NodeWiring> variants;                // nodes of another kind or with faults of their own
  std::map<std::int64_t, std::size_t> variant_of;  // node -> variants
  std::map<std::pair<std::int64_t, std::int64_t>, double>
      leaf_left;  // what faults leave of the trunks of (leaf group, rail); -1 stands for all; several multiply
};

/// Routes inside a node prefer NVLink, then PCIe, then the link between sockets; a copy passes through another GPU over
/// NVLink only (NCCL's NVB path, github.com/NVIDIA/nccl src/graph/paths.cc). Without peer-to-peer every path with a
/// PCIe wire is staged: it goes to a CPU's memory and from there on. A GPU uses the nearest NIC; among equally near
/// ones the one that fewest GPUs use so far. Throws InputError if a GPU cannot reach another one of its node, or a NIC
/// when there are several nodes, if a wire names an unknown device, if nodes differ in their number of GPUs, or if the
/// cluster is too large to number its links (2^31).
Topology build_topology(const ClusterSpec& cluster);

std::int64_t gpu_count(const Topology& topology);
std::int64_t link_count(const Topology& topology);
NodeId node_of(const Topology& topology, GpuId gpu);
Link link(const Topology& topology, LinkId id);  // "unusedN" with no rate: a number that the node leaves out
const NodeWiring& wiring_of(const Topology& topology, NodeId node);
double speed_of(const Topology& topology, GpuId gpu);      // of its kernels, 1 without faults
std::size_t kind_of(const Topology& topology, GpuId gpu);  // of its node

/// Whether all nodes are wired alike and all switches carry the same, so that ranks in the same place fare the same.
bool is_even(const Topology& topology);

/// The links from one GPU to another, into `out` (reused to avoid allocation).
void find_route(const Topology& topology, GpuId from, GpuId to, Route& out);

/// The links that two routes share, ascending.
std::vector<LinkId> shared_links(const Route& a, const Route& b);

}  // namespace stagecraft

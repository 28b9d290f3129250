#pragma once
// The cluster as the user wrote it: GPUs, the wiring inside a node, the fabric between nodes. Knows no jobs.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "spec/fault_spec.hpp"
#include "spec/model_spec.hpp"

namespace stagecraft {

struct GpuSpec {
  std::string name;
  std::map<Dtype, FlopsPerSecond> peak;  // dense
  Bytes memory;                          // as labelled
  Bytes memory_usable;                   // as the driver reports it; = memory if unknown
  BytesPerSecond memory_bandwidth;       // nominal
  Bytes l2;
  std::int64_t sms = 0;
  std::string architecture;  // "volta", "ampere", "hopper", "blackwell", "cpu", ... selects tuning tables
  BytesPerSecond nvlink;     // nominal, of all its links together, per direction; 0: has none, or unknown
  BytesPerSecond pcie;       // nominal, of its slot, per direction; 0: has none, or unknown
  std::string source;
};

/// FLOP/s; 0 if the GPU has none of this dtype.
inline double peak_of(const GpuSpec& gpu, Dtype dtype) {
  const auto found = gpu.peak.find(dtype);
  return found == gpu.peak.end() ? 0 : found->second.value;
}

enum class DeviceKind : std::uint8_t { gpu, nvswitch, pcie_switch, cpu, nic };

std::string to_text(DeviceKind kind);  // as a file writes it: "pcie_switch"

struct DeviceSpec {
  DeviceKind kind = DeviceKind::gpu;
  std::string name;  // unique in its node: "gpu0", "nvswitch", "pcie3", "cpu0", "nic5"
};

enum class LinkKind : std::uint8_t { nvlink, pcie, socket, network };

std::string to_text(LinkKind kind);

/// A full-duplex wire between two devices of a node.
struct WireSpec {
  std::string from, to;  // device names
  LinkKind kind = LinkKind::nvlink;
  BytesPerSecond nominal;   // per direction
  BytesPerSecond achieved;  // per direction, as measured; = nominal if unknown
  Seconds latency;
  std::string source;
};

struct NodeSpec {
  std::string name;
  std::string gpu;  // name of the GpuSpec of every GPU in the node
  std::vector<DeviceSpec> devices;
  std::vector<WireSpec> wires;
  bool peer_to_peer = true;  // false: copies between GPUs are staged through host memory
  Bytes host_memory;
  Bytes nvme;                            // capacity of the local drives together; 0: none
  BytesPerSecond nvme_read, nvme_write;  // of the drives together
  std::string source;
};

enum class FabricKind : std::uint8_t { none, single_switch, fat_tree, rail_optimised, dragonfly };

std::string to_text(FabricKind kind);

/// How flows are spread over the cables between two switches.
enum class Routing : std::uint8_t {
  adaptive,  // evenly: all cables of a leaf (of a dragonfly's group) are one trunk
  fixed  // a flow keeps to one path: the hash of its NICs chooses the spine (ECMP), or on a dragonfly the direct cable
};

std::string to_text(Routing routing);

struct FabricSpec {
  FabricKind kind = FabricKind::none;
  BytesPerSecond nic_nominal;              // per NIC and direction
  BytesPerSecond nic_achieved;             // per NIC and direction
  Seconds nic_latency;                     // adapter to adapter without switches
  Seconds switch_latency;                  // per switch passed
  std::int64_t nodes_per_leaf_group = 32;  // nodes whose NICs reach each other through one leaf
  double oversubscription = 1.0;           // leaf down-rate over leaf up-rate; 1 is non-blocking
  Routing routing = Routing::adaptive;     // of fat tree, rails and dragonfly
  std::int64_t hash_seed = 0;              // of fixed routing over spines
  std::int64_t switches_per_group = 1;     // of a dragonfly, all joined to each other
  BytesPerSecond local_rate;               // of a dragonfly: between two switches of a group, per direction
  BytesPerSecond global_rate;              // of a dragonfly: between two groups, per direction
  std::string source;
};

/// Nodes of another kind than the cluster's own, as another cluster describes them.
struct OtherNodes {
  std::int64_t count = 1;
  std::string cluster;  // name of the one that describes them
  GpuSpec gpu;
  NodeSpec node;
  BytesPerSecond nic_nominal, nic_achieved;  // 0: the fabric's
  std::string calibration;
};

struct ClusterSpec {
  std::string name;
  std::string source;
  GpuSpec gpu;
  NodeSpec node;
  std::int64_t nodes = 1;               // all of them
  std::vector<OtherNodes> other_nodes;  // the last nodes of the cluster, in this order
  FabricSpec fabric;
  std::vector<FaultSpec> faults;
  std::string calibration;  // name of the default calibration of topologies/calibrations
};

std::int64_t gpus_per_node(const NodeSpec& node);
std::int64_t nics_per_node(const NodeSpec& node);

/// Kinds of nodes are numbered: 0 is the cluster's own, 1 + i is other_nodes[i].
std::size_t kind_count(const ClusterSpec& cluster);
std::size_t kind_of_node(const ClusterSpec& cluster, std::int64_t node);
std::int64_t first_node_of(const ClusterSpec& cluster, std::size_t kind);
const GpuSpec& gpu_of_kind(const ClusterSpec& cluster, std::size_t kind);
const NodeSpec& node_of_kind(const ClusterSpec& cluster, std::size_t kind);
struct NicRate {
  BytesPerSecond nominal, achieved;  // per direction
};
NicRate nic_rate_of_kind(const ClusterSpec& cluster, std::size_t kind);
/// As many nodes, all of this kind and without faults.
ClusterSpec cluster_of_kind(const ClusterSpec& cluster, std::size_t kind);

}  // namespace stagecraft

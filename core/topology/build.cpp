#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/input_error.hpp"
#include "topology/fabric.hpp"
#include "topology/node_paths.hpp"
#include "topology/topology.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t largest_node = 1024;  // devices

[[noreturn]] void refuse(const std::string& pointer, const std::string& got, const std::string& expected,
                         const std::string& nearest = "") {
  throw InputError(InputProblem{"", 0, 0, pointer, got, expected, nearest});
}

std::vector<DeviceIndex> devices_of(const NodeSpec& node, DeviceKind kind) {
  std::vector<DeviceIndex> found;
  for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
    if (node.devices[device].kind == kind) found.push_back(device);
  }
  return found;
}

std::vector<Link> links_of_node(const ClusterSpec& cluster, const std::vector<DeviceIndex>& nics) {
  std::vector<Link> links;
  for (const WireSpec& wire : cluster.node.wires) {
    links.push_back({wire.from + "->" + wire.to, wire.kind, wire.nominal, wire.achieved, wire.latency});
    links.push_back({wire.to + "->" + wire.from, wire.kind, wire.nominal, wire.achieved, wire.latency});
  }
  // Entering the leaf switch is counted on the way up; every later switch on the trunk that leads into it.
  const FabricSpec& fabric = cluster.fabric;
  const Seconds half = fabric.nic_latency / 2;
  for (const DeviceIndex nic : nics) {
    const std::string& name = cluster.node.devices[nic].name;
    links.push_back(
        {name + "/up", LinkKind::network, fabric.nic_nominal, fabric.nic_achieved, half + fabric.switch_latency});
    links.push_back({name + "/down", LinkKind::network, fabric.nic_nominal, fabric.nic_achieved, half});
  }
  return links;
}

/// All paths of a node, by device; `by_device[a][b]`.
using NodePaths = std::vector<std::vector<DevicePath>>;

/// The way through the memory of the CPU that makes it shortest.
DevicePath through_host(const NodePaths& paths, const std::vector<DeviceIndex>& cpus, DeviceIndex from,
                        DeviceIndex to) {
  DevicePath best;
  for (const DeviceIndex cpu : cpus) {
    const DevicePath& up = paths[from][cpu];
    const DevicePath& down = paths[cpu][to];
    if (!up.found || !down.found || (best.found && best.distance <= up.distance + down.distance)) continue;
    best = up;
    best.nvlink_only = false;
    best.distance += down.distance;
    best.links.insert(best.links.end(), down.links.begin(), down.links.end());
  }
  return best;
}

struct Copy {
  DevicePath path;
  bool staged = false;
};

Copy copy_path(const NodeSpec& node, const NodePaths& paths, const std::vector<DeviceIndex>& cpus, DeviceIndex from,
               DeviceIndex to) {
  const DevicePath& direct = paths[from][to];
  if (node.peer_to_peer || (direct.found && direct.nvlink_only)) return {direct, false};
  return {through_host(paths, cpus, from, to), true};
}

void connect_gpus(Topology& topology, const NodePaths& paths, const std::vector<DeviceIndex>& gpus,
                  const std::vector<DeviceIndex>& cpus) {
  const NodeSpec& node = topology.cluster.node;
  for (const DeviceIndex from : gpus) {
    for (const DeviceIndex to : gpus) {
      if (from == to) {
        topology.inside.emplace_back();
        topology.staged_inside.push_back(0);
        continue;
      }
      Copy copy = copy_path(node, paths, cpus, from, to);
      if (!copy.path.found) {
        refuse("/node/wires", fmt::format("no path from {} to {}", node.devices[from].name, node.devices[to].name),
               copy.staged ? "wires that connect both to a CPU, since peer_to_peer is false"
                           : "wires that connect all GPUs of a node");
      }
      topology.inside.push_back(std::move(copy.path.links));
      topology.staged_inside.push_back(copy.staged ? 1 : 0);
    }
  }
}

/// A GPU's way to the NIC that it uses.
struct NicChoice {
  std::size_t nic = 0;
  Copy copy;
};

std::optional<NicChoice> choose_nic(const NodeSpec& node, const NodePaths& paths, const std::vector<DeviceIndex>& nics,
                                    const std::vector<DeviceIndex>& cpus, DeviceIndex gpu,
                                    const std::vector<std::int32_t>& users) {
  std::optional<NicChoice> chosen;
  for (std::size_t nic = 0; nic < nics.size(); ++nic) {
    Copy copy = copy_path(node, paths, cpus, gpu, nics[nic]);
    if (!copy.path.found) continue;
    const bool nearer = !chosen || copy.path.distance < chosen->copy.path.distance ||
                        (copy.path.distance == chosen->copy.path.distance && users[nic] < users[chosen->nic]);
    if (nearer) chosen = NicChoice{nic, std::move(copy)};
  }
  return chosen;
}

void connect_nics(Topology& topology, const NodePaths& paths, const std::vector<DeviceIndex>& gpus,
                  const std::vector<DeviceIndex>& nics, const std::vector<DeviceIndex>& cpus) {
  const NodeSpec& node = topology.cluster.node;
  const auto first_port = static_cast<std::int32_t>(2 * node.wires.size());
  std::vector<std::int32_t> users(nics.size(), 0);
  for (const DeviceIndex gpu : gpus) {
    std::int32_t& nic_of_gpu = topology.nic_of_gpu.emplace_back(-1);
    std::vector<std::int32_t>& there = topology.to_nic.emplace_back();
    std::vector<std::int32_t>& back = topology.from_nic.emplace_back();
    std::uint8_t& staged = topology.staged_to_nic.emplace_back(std::uint8_t{0});
    const std::optional<NicChoice> chosen = choose_nic(node, paths, nics, cpus, gpu, users);
    if (!chosen) continue;
    ++users[chosen->nic];
    nic_of_gpu = static_cast<std::int32_t>(chosen->nic);
    staged = chosen->copy.staged ? 1 : 0;
    const std::int32_t port = first_port + 2 * nic_of_gpu;
    there = chosen->copy.path.links;
    there.push_back(port);
    back.push_back(port + 1);
    for (auto link = chosen->copy.path.links.rbegin(); link != chosen->copy.path.links.rend(); ++link) {
      back.push_back(*link ^ 1);
    }
  }
}

/// A GPU of the same rail that NVLink reaches: NCCL's PXN (NVIDIA developer blog, "Doubling all2all performance with
/// NCCL 2.12").
void choose_relays(Topology& topology, const NodePaths& paths, const std::vector<DeviceIndex>& gpus) {
  for (std::int32_t gpu = 0; gpu < topology.gpus_per_node; ++gpu) {
    const auto from = static_cast<std::size_t>(gpu);
    for (std::int32_t rail = 0; rail < topology.nics_per_node; ++rail) {
      std::int32_t relay = gpu;
      for (std::size_t other = 0; other < gpus.size() && topology.nic_of_gpu[from] != rail; ++other) {
        const DevicePath& path = paths[gpus[from]][gpus[other]];
        if (topology.nic_of_gpu[other] != rail || !path.found || !path.nvlink_only) continue;
        relay = static_cast<std::int32_t>(other);
        break;
      }
      topology.relay.push_back(relay);
    }
  }
}

void check_fabric(const ClusterSpec& cluster, const Topology& topology) {
  const FabricSpec& fabric = cluster.fabric;
  if (cluster.nodes < 1) refuse("/nodes", fmt::format("{}", cluster.nodes), "at least one node", "1");
  if (cluster.nodes > 1 && fabric.kind == FabricKind::none) {
    refuse("/fabric/kind", "none", fmt::format("a fabric that joins {} nodes", cluster.nodes), "single_switch");
  }
  if (fabric.kind == FabricKind::none) return;
  if (!(fabric.oversubscription > 0)) {
    refuse("/fabric/oversubscription", fmt::format("{}", fabric.oversubscription), "a ratio above 0", "1");
  }
  for (std::size_t gpu = 0; gpu < topology.nic_of_gpu.size() && cluster.nodes > 1; ++gpu) {
    if (topology.nic_of_gpu[gpu] >= 0) continue;
    refuse("/node/wires", fmt::format("no path from GPU {} to a NIC", gpu),
           "wires that connect every GPU to a NIC, since there are several nodes");
  }
}

}  // namespace

Topology build_topology(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  if (node.devices.size() > largest_node) {
    refuse("/node/devices", fmt::format("{} devices", node.devices.size()),
           fmt::format("at most {} devices in a node", largest_node), fmt::format("{}", largest_node));
  }
  const std::vector<DeviceIndex> gpus = devices_of(node, DeviceKind::gpu);
  const std::vector<DeviceIndex> nics = devices_of(node, DeviceKind::nic);
  const std::vector<DeviceIndex> cpus = devices_of(node, DeviceKind::cpu);
  if (gpus.empty()) refuse("/node/devices", "no GPU", "at least one device of kind gpu");

  Topology topology;
  topology.cluster = cluster;
  topology.gpus_per_node = static_cast<std::int32_t>(gpus.size());
  topology.nics_per_node = static_cast<std::int32_t>(nics.size());
  topology.node_links = links_of_node(cluster, nics);
  topology.links_per_node = static_cast<std::int32_t>(topology.node_links.size());

  const NodeGraph graph = make_node_graph(node);
  NodePaths paths(node.devices.size());
  for (const DeviceIndex gpu : gpus) paths[gpu] = paths_from(graph, gpu);
  for (const DeviceIndex cpu : cpus) paths[cpu] = paths_from(graph, cpu);
  connect_gpus(topology, paths, gpus, cpus);
  connect_nics(topology, paths, gpus, nics, cpus);
  choose_relays(topology, paths, gpus);
  check_fabric(cluster, topology);

  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t per_node = 2 * std::int64_t{topology.nics_per_node} + topology.links_per_node + 1;
  if (cluster.nodes > most / per_node || cluster.nodes > most / topology.gpus_per_node) {
    refuse("/nodes", fmt::format("{}", cluster.nodes), "a cluster whose links can be numbered with 31 bits",
           fmt::format("{}", most / per_node));
  }
  return topology;
}

}  // namespace stagecraft

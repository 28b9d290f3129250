#include "topology/node_wiring.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/input_error.hpp"
#include "topology/node_paths.hpp"

namespace stagecraft {
namespace {

[[noreturn]] void refuse(const std::string& pointer, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{"", 0, 0, pointer, got, expected, ""});
}

std::vector<DeviceIndex> devices_of(const NodeSpec& node, DeviceKind kind) {
  std::vector<DeviceIndex> found;
  for (DeviceIndex device = 0; device < node.devices.size(); ++device) {
    if (node.devices[device].kind == kind) found.push_back(device);
  }
  return found;
}

std::vector<Link> links_of_node(const ClusterSpec& cluster, std::size_t kind, const FaultyNode& faulty,
                                const std::vector<DeviceIndex>& nics) {
  const NodeSpec& sound = node_of_kind(cluster, kind);
  std::vector<Link> links;
  for (std::size_t i = 0; i < faulty.node.wires.size(); ++i) {
    const WireSpec& wire = faulty.node.wires[i];
    const double left = wire.achieved / sound.wires[i].achieved;
    links.push_back({wire.from + "->" + wire.to, wire.kind, wire.nominal, wire.achieved, wire.latency, left});
    links.push_back({wire.to + "->" + wire.from, wire.kind, wire.nominal, wire.achieved, wire.latency, left});
  }
  // Entering the leaf switch is counted on the way up; every later switch on the trunk that leads into it.
  const FabricSpec& fabric = cluster.fabric;
  const NicRate nic = nic_rate_of_kind(cluster, kind);
  const Seconds half = fabric.nic_latency / 2;
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const std::string& name = sound.devices[nics[i]].name;
    const double left = faulty.nic_left[i];
    const BytesPerSecond rate = nic.achieved * left;
    links.push_back({name + "/up", LinkKind::network, nic.nominal, rate, half + fabric.switch_latency, left});
    links.push_back({name + "/down", LinkKind::network, nic.nominal, rate, half, left});
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

/// Access control sends a copy up to the root and down again; without peer-to-peer it also waits in host memory.
Copy copy_path(const FaultyNode& faulty, const NodePaths& paths, const std::vector<DeviceIndex>& cpus, DeviceIndex from,
               DeviceIndex to) {
  const DevicePath& direct = paths[from][to];
  if (direct.found && direct.nvlink_only) return {direct, false};
  if (!faulty.node.peer_to_peer) return {through_host(paths, cpus, from, to), true};
  if (faulty.access_control) return {through_host(paths, cpus, from, to), false};
  return {direct, false};
}

Copy path_to_nic(const FaultyNode& faulty, const NodePaths& paths, const std::vector<DeviceIndex>& cpus,
                 DeviceIndex gpu, DeviceIndex nic) {
  if (!faulty.gpudirect) return {through_host(paths, cpus, gpu, nic), true};
  return copy_path(faulty, paths, cpus, gpu, nic);
}

void connect_gpus(NodeWiring& wiring, const FaultyNode& faulty, const NodePaths& paths,
                  const std::vector<DeviceIndex>& gpus, const std::vector<DeviceIndex>& cpus) {
  const NodeSpec& node = faulty.node;
  for (const DeviceIndex from : gpus) {
    for (const DeviceIndex to : gpus) {
      if (from == to) {
        wiring.inside.emplace_back();
        wiring.staged_inside.push_back(0);
        continue;
      }
      Copy copy = copy_path(faulty, paths, cpus, from, to);
      if (!copy.path.found) {
        refuse("/node/wires", fmt::format("no path from {} to {}", node.devices[from].name, node.devices[to].name),
               copy.staged ? "wires that connect both to a CPU, since peer_to_peer is false"
                           : "wires that connect all GPUs of a node");
      }
      wiring.inside.push_back(std::move(copy.path.links));
      wiring.staged_inside.push_back(copy.staged ? 1 : 0);
    }
  }
}

/// A GPU's way to the NIC that it uses.
struct NicChoice {
  std::size_t nic = 0;
  Copy copy;
};

std::optional<NicChoice> choose_nic(const FaultyNode& faulty, const NodePaths& paths,
                                    const std::vector<DeviceIndex>& nics, const std::vector<DeviceIndex>& cpus,
                                    DeviceIndex gpu, const std::vector<std::int32_t>& users) {
  std::optional<NicChoice> chosen;
  for (std::size_t nic = 0; nic < nics.size(); ++nic) {
    Copy copy = path_to_nic(faulty, paths, cpus, gpu, nics[nic]);
    if (!copy.path.found) continue;
    const bool nearer = !chosen || copy.path.distance < chosen->copy.path.distance ||
                        (copy.path.distance == chosen->copy.path.distance && users[nic] < users[chosen->nic]);
    if (nearer) chosen = NicChoice{nic, std::move(copy)};
  }
  return chosen;
}

void connect_nics(NodeWiring& wiring, const FaultyNode& faulty, const NodePaths& paths,
                  const std::vector<DeviceIndex>& gpus, const std::vector<DeviceIndex>& nics,
                  const std::vector<DeviceIndex>& cpus) {
  const auto first_port = static_cast<std::int32_t>(2 * faulty.node.wires.size());
  std::vector<std::int32_t> users(nics.size(), 0);
  for (const DeviceIndex gpu : gpus) {
    std::int32_t& nic_of_gpu = wiring.nic_of_gpu.emplace_back(-1);
    std::vector<std::int32_t>& there = wiring.to_nic.emplace_back();
    std::vector<std::int32_t>& back = wiring.from_nic.emplace_back();
    std::uint8_t& staged = wiring.staged_to_nic.emplace_back(std::uint8_t{0});
    const std::optional<NicChoice> chosen = choose_nic(faulty, paths, nics, cpus, gpu, users);
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
void choose_relays(NodeWiring& wiring, const NodePaths& paths, const std::vector<DeviceIndex>& gpus,
                   std::int32_t rails) {
  for (std::size_t from = 0; from < gpus.size(); ++from) {
    for (std::int32_t rail = 0; rail < rails; ++rail) {
      auto relay = static_cast<std::int32_t>(from);
      for (std::size_t other = 0; other < gpus.size() && wiring.nic_of_gpu[from] != rail; ++other) {
        const DevicePath& path = paths[gpus[from]][gpus[other]];
        if (wiring.nic_of_gpu[other] != rail || !path.found || !path.nvlink_only) continue;
        relay = static_cast<std::int32_t>(other);
        break;
      }
      wiring.relay.push_back(relay);
    }
  }
}

/// What each GPU sends over all its wires of a kind together, without faults.
void add_up_links(NodeWiring& wiring, const NodeSpec& sound, const std::vector<DeviceIndex>& gpus) {
  for (const DeviceIndex gpu : gpus) {
    const std::string& name = sound.devices[gpu].name;
    auto& of_gpu = wiring.links_of_gpu.emplace_back();
    for (const WireSpec& wire : sound.wires) {
      const auto kind = static_cast<std::size_t>(wire.kind);
      if (kind < of_gpu.size() && (wire.from == name || wire.to == name)) of_gpu[kind] += wire.achieved;
    }
  }
}

}  // namespace

NodeWiring make_wiring(const ClusterSpec& cluster, std::size_t kind, const FaultyNode& faulty, std::int32_t rails) {
  const std::vector<DeviceIndex> gpus = devices_of(faulty.node, DeviceKind::gpu);
  const std::vector<DeviceIndex> nics = devices_of(faulty.node, DeviceKind::nic);
  const std::vector<DeviceIndex> cpus = devices_of(faulty.node, DeviceKind::cpu);
  NodeWiring wiring;
  wiring.kind = kind;
  wiring.wired = faulty.node;
  wiring.gpu_speed = faulty.gpu_speed;
  wiring.node_links = links_of_node(cluster, kind, faulty, nics);
  add_up_links(wiring, node_of_kind(cluster, kind), gpus);
  const NodeGraph graph = make_node_graph(faulty.node);
  NodePaths paths(faulty.node.devices.size());
  for (const DeviceIndex gpu : gpus) paths[gpu] = paths_from(graph, gpu);
  for (const DeviceIndex cpu : cpus) paths[cpu] = paths_from(graph, cpu);
  connect_gpus(wiring, faulty, paths, gpus, cpus);
  connect_nics(wiring, faulty, paths, gpus, nics, cpus);
  choose_relays(wiring, paths, gpus, rails);
  return wiring;
}

}  // namespace stagecraft

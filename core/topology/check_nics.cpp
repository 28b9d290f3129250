// Which NICs the GPUs use, and over what.

#include <fmt/format.h>

#include <algorithm>

#include "topology/check_parts.hpp"
#include "topology/topology.hpp"

namespace stagecraft {
namespace {

void warn(Findings& findings, const char* code, const char* pointer, std::string message, std::string nearest) {
  findings.push_back({Severity::warning, code, pointer, std::move(message), std::move(nearest)});
}

std::vector<std::string> names_of(const NodeSpec& node, DeviceKind kind) {
  std::vector<std::string> names;
  for (const DeviceSpec& device : node.devices) {
    if (device.kind == kind) names.push_back(device.name);
  }
  return names;
}

void check_slots(const ClusterSpec& cluster, Findings& findings) {
  for (const std::string& nic : names_of(cluster.node, DeviceKind::nic)) {
    for (const WireSpec& wire : cluster.node.wires) {
      if (wire.from != nic && wire.to != nic) continue;
      if (wire.nominal >= cluster.fabric.nic_nominal) continue;
      warn(findings, "nic-above-slot", "/fabric/nic_nominal",
           fmt::format("{} sends {}, but {} carries {}; expected a slot as fast as the NIC", nic,
                       to_text(cluster.fabric.nic_nominal), name_of(wire), to_text(wire.nominal)),
           fmt::format("\"{}\"", to_text(wire.nominal)));
      return;  // one tells of all
    }
  }
}

void check_sockets(const Topology& topology, Findings& findings) {
  const std::vector<std::string> gpus = names_of(topology.cluster.node, DeviceKind::gpu);
  const std::vector<std::string> nics = names_of(topology.cluster.node, DeviceKind::nic);
  std::vector<std::string> far;
  std::string way;
  for (std::size_t gpu = 0; gpu < topology.to_nic.size(); ++gpu) {
    for (const std::int32_t link : topology.to_nic[gpu]) {
      const Link& passed = topology.node_links[static_cast<std::size_t>(link)];
      if (passed.kind != LinkKind::socket) continue;
      far.push_back(gpus[gpu]);
      way = fmt::format("{} over {} ({})", nics[static_cast<std::size_t>(topology.nic_of_gpu[gpu])], passed.name,
                        to_text(passed.achieved));
      break;
    }
  }
  if (far.empty()) return;
  warn(findings, "nic-on-other-socket", "/node/wires",
       fmt::format("the NIC nearest to {} hangs on another socket: {}; expected a NIC on every socket that has GPUs",
                   list_of(far), way),
       "a NIC on the socket of " + far.front());
}

void check_shares(const Topology& topology, Findings& findings) {
  const std::vector<std::string> nics = names_of(topology.cluster.node, DeviceKind::nic);
  std::vector<int> users(nics.size(), 0);
  for (const std::int32_t nic : topology.nic_of_gpu) {
    if (nic >= 0) ++users[static_cast<std::size_t>(nic)];
  }
  std::vector<std::string> idle;
  for (std::size_t nic = 0; nic < nics.size(); ++nic) {
    if (users[nic] == 0) idle.push_back(nics[nic]);
  }
  const auto [least, most] = std::minmax_element(users.begin(), users.end());
  if (nics.empty() || *most - *least < 1 || (*most == 1 && !idle.empty() && nics.size() > topology.nic_of_gpu.size()))
    return;
  const auto busiest = static_cast<std::size_t>(most - users.begin());
  warn(findings, "uneven-nics", "/node/wires",
       fmt::format("{} is the nearest NIC of {} GPUs, {} of {}; expected NICs that as many GPUs share", nics[busiest],
                   *most, nics[static_cast<std::size_t>(least - users.begin())], *least),
       fmt::format("{:.3g} GPUs per NIC",
                   static_cast<double>(topology.nic_of_gpu.size()) / static_cast<double>(nics.size())));
}

}  // namespace

void check_nics(const ClusterSpec& cluster, Findings& findings) {
  if (cluster.fabric.kind == FabricKind::none) return;
  const Topology topology = build_topology(cluster);
  check_slots(cluster, findings);
  check_sockets(topology, findings);
  check_shares(topology, findings);
}

}  // namespace stagecraft

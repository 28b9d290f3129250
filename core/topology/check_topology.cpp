#include "topology/check_topology.hpp"

#include <fmt/format.h>

#include "topology/check_parts.hpp"

namespace stagecraft {

std::string name_of(const WireSpec& wire) {
  return fmt::format("{}-{}", wire.from, wire.to);
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

namespace {

Findings check_alike(const ClusterSpec& cluster) {
  Findings findings;
  check_reach(cluster, findings);
  const bool connected = findings.empty();
  check_rates(cluster, findings);
  if (connected) check_nics(cluster, findings);
  return findings;
}

}  // namespace

Findings check_topology(const ClusterSpec& cluster) {
  if (cluster.other_nodes.empty()) return check_alike(cluster);
  Findings findings;
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    for (Finding finding : check_alike(cluster_of_kind(cluster, kind))) {
      if (kind > 0) finding.pointer = fmt::format("/other_nodes/{}/cluster{}", kind - 1, finding.pointer);
      finding.message = fmt::format("{}: {}", node_of_kind(cluster, kind).name, finding.message);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace stagecraft

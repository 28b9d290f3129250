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

Findings check_topology(const ClusterSpec& cluster) {
  Findings findings;
  check_reach(cluster, findings);
  const bool connected = findings.empty();
  check_rates(cluster, findings);
  if (connected) check_nics(cluster, findings);
  return findings;
}

}  // namespace stagecraft

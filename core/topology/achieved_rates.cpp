#include "topology/achieved_rates.hpp"

#include <fmt/format.h>

#include "topology/check_parts.hpp"

namespace stagecraft {
namespace {

void compare(std::string pointer, const std::string& what, BytesPerSecond achieved, BytesPerSecond nominal,
             Findings& findings) {
  if (achieved <= nominal) return;
  findings.push_back({Severity::error, "achieved-above-nominal", std::move(pointer),
                      fmt::format("{} achieves {}, expected at most the {} that it is labelled with", what,
                                  to_text(achieved), to_text(nominal)),
                      fmt::format("\"{}\"", to_text(nominal))});
}

}  // namespace

void check_achieved_rates(const ClusterSpec& cluster, Findings& findings) {
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    const std::string prefix = kind == 0 ? "" : fmt::format("/other_nodes/{}/cluster", kind - 1);
    const std::vector<WireSpec>& wires = node_of_kind(cluster, kind).wires;
    for (std::size_t i = 0; i < wires.size(); ++i) {
      if (wires[i].achieved <= wires[i].nominal) continue;  // no text for what is right
      compare(fmt::format("{}/node/wires/{}/achieved", prefix, i), name_of(wires[i]), wires[i].achieved,
              wires[i].nominal, findings);
    }
    if (cluster.fabric.kind == FabricKind::none) continue;
    const NicRate nic = nic_rate_of_kind(cluster, kind);
    compare(prefix + "/fabric/nic_achieved", "a NIC", nic.achieved, nic.nominal, findings);
  }
}

}  // namespace stagecraft

// Rates against their labels, and labels against what the generation of the GPU has.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/achieved_rates.hpp"
#include "topology/check_parts.hpp"

namespace stagecraft {
namespace {

/// The most that any GPU of a generation has per direction. Links to other GPUs: 6, 12, 18 and 18 NVLinks of 25, 25, 25
/// and 50 GB/s (V100, A100, H100, B200 datasheets), 2 of 25 of the RTX 2080 Ti, 7 xGMI links of 64 of the MI300X; none
/// of Ada. Slots: 16 lanes of PCIe 3, 4, 5 or, of the B300, 6 (github.com/stas00/ml-engineering, network; NVIDIA HGX
/// B300 datasheet). To the CPU: NVLink-C2C of Grace, 450 GB/s (GH200 and GB200 datasheets).
struct Generation {
  const char* architecture;
  double links, slot, to_cpu;  // GB/s
  const char* slot_name;
};
constexpr std::array generations{
    Generation{"volta", 150, 15.8, 15.8, "PCIe 3 x16"},  Generation{"turing", 50, 15.8, 15.8, "PCIe 3 x16"},
    Generation{"ampere", 300, 31.6, 31.6, "PCIe 4 x16"}, Generation{"ada", 0, 31.6, 31.6, "PCIe 4 x16"},
    Generation{"hopper", 450, 63.1, 450, "PCIe 5 x16"},  Generation{"blackwell", 900, 126.2, 450, "PCIe 6 x16"},
    Generation{"cdna3", 448, 63.1, 63.1, "PCIe 5 x16"},
};
constexpr double rounding = 1.005;  // labels are written with two or three digits

struct Rates {
  const ClusterSpec& cluster;
  Findings& findings;

  void error(const char* code, const char* pointer, std::string message, std::string nearest) const {
    findings.push_back({Severity::error, code, pointer, std::move(message), std::move(nearest)});
  }

  DeviceKind kind_of(const std::string& name) const {
    const auto found = std::find_if(cluster.node.devices.begin(), cluster.node.devices.end(),
                                    [&](const DeviceSpec& device) { return device.name == name; });
    return found->kind;
  }

  void check_slot(const WireSpec& wire, const Generation& generation) const {
    const DeviceKind from = kind_of(wire.from), to = kind_of(wire.to);
    if (wire.kind != LinkKind::pcie || (from != DeviceKind::gpu && to != DeviceKind::gpu)) return;
    const bool to_cpu = from == DeviceKind::cpu || to == DeviceKind::cpu;
    const double most = to_cpu ? generation.to_cpu : generation.slot;
    if (wire.nominal.value <= most * rounding * 1e9) return;
    error("nominal-above-hardware", "/node/wires",
          fmt::format("{} is labelled {}, expected at most the {} of {}, all that the generation {} has", name_of(wire),
                      to_text(wire.nominal), to_text(BytesPerSecond{most * 1e9}),
                      to_cpu && generation.to_cpu > generation.slot ? "NVLink-C2C" : generation.slot_name,
                      generation.architecture),
          fmt::format("\"{}\"", to_text(BytesPerSecond{most * 1e9})));
  }

  double links_of(const std::string& gpu) const {
    double sum = 0;
    for (const WireSpec& wire : cluster.node.wires) {
      if (wire.kind == LinkKind::nvlink && (wire.from == gpu || wire.to == gpu)) sum += wire.nominal.value;
    }
    return sum;
  }

  void check_links(const Generation& generation) const {
    std::vector<std::string> above;
    double highest = 0;
    for (const DeviceSpec& device : cluster.node.devices) {
      if (device.kind != DeviceKind::gpu) continue;
      const double sum = links_of(device.name);
      if (sum <= generation.links * rounding * 1e9) continue;
      above.push_back(device.name);
      highest = std::max(highest, sum);
    }
    if (above.empty()) return;
    const std::string most = to_text(BytesPerSecond{generation.links * 1e9});
    error("nominal-above-hardware", "/node/wires",
          fmt::format("the links of {} to other GPUs are labelled {} together, expected {}", list_of(above),
                      to_text(BytesPerSecond{highest}),
                      generation.links > 0
                          ? fmt::format("at most the {} of the generation {}", most, generation.architecture)
                          : fmt::format("none: the generation {} has no such links", generation.architecture)),
          generation.links > 0 ? fmt::format("\"{}\"", most) : "");
  }

  void check_alike() const {
    double most = 0;
    std::string best;
    for (const DeviceSpec& device : cluster.node.devices) {
      if (device.kind != DeviceKind::gpu || links_of(device.name) <= most) continue;
      most = links_of(device.name);
      best = device.name;
    }
    std::vector<std::string> fewer;
    for (const DeviceSpec& device : cluster.node.devices) {
      if (device.kind == DeviceKind::gpu && links_of(device.name) < most) fewer.push_back(device.name);
    }
    if (fewer.empty()) return;
    findings.push_back(
        {Severity::warning, "uneven-gpus", "/node/wires",
         fmt::format("{} {} fewer links to other GPUs ({}) than {} ({}); expected GPUs that are wired alike",
                     list_of(fewer), fewer.size() == 1 ? "has" : "have",
                     to_text(BytesPerSecond{links_of(fewer.front())}), best, to_text(BytesPerSecond{most})),
         fmt::format("\"{}\"", to_text(BytesPerSecond{most}))});
  }
};

}  // namespace

void check_rates(const ClusterSpec& cluster, Findings& findings) {
  const Rates rates{cluster, findings};
  check_achieved_rates(cluster, findings);
  for (const Generation& generation : generations) {
    if (cluster.gpu.architecture != generation.architecture) continue;
    for (const WireSpec& wire : cluster.node.wires) rates.check_slot(wire, generation);
    rates.check_links(generation);
  }
  rates.check_alike();
}

}  // namespace stagecraft

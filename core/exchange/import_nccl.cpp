// NCCL's topology XML: CPUs, PCIe bridges below them, GPUs and NICs in the bridges' slots, NVLinks of the GPUs
// (github.com/NVIDIA/nccl 2.30.7 src/graph/xml.cc and topo.cc).

#ifdef STAGECRAFT_HAVE_XML

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <pugixml.hpp>

#include "exchange/topology_draft.hpp"

namespace stagecraft {
namespace {

constexpr int deepest = 32;

struct Slot {
  std::string name;  // of the device that hangs in it
  double GBps = 0;
};

/// GPUs, and the NVLinks that each has, by where they lead.
struct FoundGpu {
  std::string name, bus;
  int compute_capability = 0;
  std::vector<std::pair<std::string, int>> links;  // bus id, or "" for a switch; how many
};

struct Reader {
  std::string_view text;
  const std::string& file;
  NodeDraft node;
  std::vector<FoundGpu> gpus;
  std::vector<std::string> cpus;
  std::map<std::string, double> socket_GBps;
  std::size_t switches = 0;

  int line_of(const pugi::xml_node& at) const {
    const std::ptrdiff_t offset =
        std::clamp<std::ptrdiff_t>(at.offset_debug(), 0, static_cast<std::ptrdiff_t>(text.size()));
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + offset, '\n'));
  }
  [[noreturn]] void refuse(const pugi::xml_node& at, const std::string& got, const std::string& expected) const {
    refuse_dump(file, line_of(at), got, expected);
  }

  std::int64_t number(const pugi::xml_node& at, const char* key, std::int64_t least, std::int64_t most) const {
    const std::string_view word = at.attribute(key).value();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most)
      refuse(at, fmt::format("{}=\"{}\" of <{}>", key, word.substr(0, 40), at.name()),
             fmt::format("a whole number from {} to {}", least, most));
    return value;
  }

  /// "16.0 GT/s PCIe" by so many lanes; 128 of 130 bits carry data from the third generation on, 8 of 10 before. A
  /// slot without figures counts as 16 lanes of the third, as NCCL takes it.
  double slot_GBps(const pugi::xml_node& pci) const {
    if (!pci.attribute("link_speed") || std::string_view(pci.attribute("link_width").value()).empty()) return 15.75;
    const char* const word = pci.attribute("link_speed").value();
    char* end = nullptr;
    const double transfers = std::strtod(word, &end);
    if (std::string_view(word).substr(0, 7) == "Unknown" || *word == '\0') return 15.75;
    if (!(transfers >= 1 && transfers <= 256) || std::string_view(end).substr(0, 5) != " GT/s")
      refuse(pci, fmt::format("link_speed=\"{}\"", std::string_view(word).substr(0, 40)),
             "a speed, \"16.0 GT/s PCIe\"");
    const double lanes = static_cast<double>(number(pci, "link_width", 0, 64));
    if (lanes == 0) return 15.75;
    return transfers * lanes / 8 * (transfers < 8 ? 0.8 : 128.0 / 130);
  }

  void add(DeviceKind kind, const std::string& name, const pugi::xml_node& at) {
    const bool known = std::any_of(node.devices.begin(), node.devices.end(),
                                   [&](const DeviceSpec& device) { return device.name == name; });
    if (known) refuse(at, fmt::format("\"{}\" a second time", name), "every device once");
    if (node.devices.size() == most_dump_devices)
      refuse(at, "more devices", fmt::format("at most {} devices", most_dump_devices));
    node.devices.push_back({kind, name});
  }
  void wire(const std::string& from, const std::string& to, LinkKind kind, double GBps, const std::string& source) {
    node.wires.push_back({from, to, kind, {GBps * 1e9}, {GBps * 1e9}, {}, source});
  }

  void read_gpu(const pugi::xml_node& gpu, const pugi::xml_node& pci, const std::string& above) {
    FoundGpu found;
    found.name = fmt::format("gpu{}", number(gpu, "dev", 0, 1023));
    found.bus = pci.attribute("busid").value();
    found.compute_capability = static_cast<int>(number(gpu, "sm", 10, 999));
    add(DeviceKind::gpu, found.name, gpu);
    wire(found.name, above, LinkKind::pcie, slot_GBps(pci), "link_speed and link_width of the dump");
    for (const pugi::xml_node& link : gpu.children("nvlink")) {
      const std::string_view kind = link.attribute("tclass").value();
      const int count = static_cast<int>(number(link, "count", 1, 64));
      // 0x0680 is a bridge: NVSwitch; 0x03 a GPU.
      const bool to_switch = kind.starts_with("0x0680");
      if (!to_switch && !kind.starts_with("0x03"))
        refuse(link, fmt::format("tclass=\"{}\" of <nvlink>", kind.substr(0, 40)),
               "a GPU (0x03...) or an NVSwitch (0x068000)");
      found.links.emplace_back(to_switch ? "" : link.attribute("target").value(), count);
    }
    gpus.push_back(std::move(found));
  }

  void read_nic(const pugi::xml_node& nic, const pugi::xml_node& pci, const std::string& above) {
    for (const pugi::xml_node& net : nic.children("net")) {
      const std::string name = fmt::format("nic{}", number(net, "dev", 0, 1023));
      // -1 and 0: the network plugin does not know; NCCL then takes 10 Gb/s.
      const double speed = static_cast<double>(number(net, "speed", -1, 10'000'000)) * 1e6 / 8 * 1e-9;
      add(DeviceKind::nic, name, net);
      if (speed > 0) node.nic_GBps = node.nic_GBps > 0 ? std::min(node.nic_GBps, speed) : speed;
      wire(name, above, LinkKind::pcie, slot_GBps(pci), "link_speed and link_width of the dump");
    }
  }

  /// A bridge with something below it is a switch; a bridge of a single device is its slot.
  void read_slot(const pugi::xml_node& pci, const std::string& above, int depth) {
    if (depth > deepest) refuse(pci, "<pci> deeper", fmt::format("at most {} bridges on top of each other", deepest));
    if (pci.child("gpu")) read_gpu(pci.child("gpu"), pci, above);
    if (pci.child("nic")) read_nic(pci.child("nic"), pci, above);
    if (!pci.child("pci")) return;
    const std::string name = fmt::format("pcie{}", switches++);
    add(DeviceKind::pcie_switch, name, pci);
    wire(name, above, LinkKind::pcie, slot_GBps(pci), "link_speed and link_width of the dump");
    for (const pugi::xml_node& below : pci.children("pci")) read_slot(below, name, depth + 1);
  }

  /// NCCL's own rates between sockets (topo.h): Intel by model, AMD, Arm and Power.
  double between_sockets(const pugi::xml_node& cpu) const {
    const std::string_view arch = cpu.attribute("arch").value(), vendor = cpu.attribute("vendor").value();
    if (arch == "ppc64") return 32;
    if (arch == "arm64") return 6;
    if (vendor == "AuthenticAMD") return 16;
    const int model = cpu.attribute("modelid").as_int();
    return model >= 207 ? 40 : model >= 143 ? 22 : model >= 85 ? 10 : 6;
  }

  void read_cpu(const pugi::xml_node& cpu) {
    const std::string name =
        fmt::format("cpu{}", number(cpu, "numaid", -1, 1023) < 0 ? 0 : number(cpu, "numaid", -1, 1023));
    add(DeviceKind::cpu, name, cpu);
    for (const std::string& other : cpus)
      wire(other, name, LinkKind::socket, between_sockets(cpu),
           "NCCL's rate between these sockets (NCCL 2.30.7 src/graph/topo.h)");
    cpus.push_back(name);
    for (const pugi::xml_node& pci : cpu.children("pci")) read_slot(pci, name, 0);
    for (const pugi::xml_node& nic : cpu.children("nic")) read_nic(nic, cpu, name);
  }

  void add_links(const KnownGpu& gpu) {
    const std::string source = fmt::format("NVLinks of {:g} GB/s, as many as the dump says", gpu.link_GBps);
    std::map<std::string, std::size_t> by_bus;
    for (std::size_t i = 0; i < gpus.size(); ++i) by_bus.emplace(gpus[i].bus, i);
    bool has_switch = false;
    std::map<std::pair<std::size_t, std::size_t>, int> pairs;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      int to_switch = 0;
      for (const auto& [bus, count] : gpus[i].links) {
        const auto peer = by_bus.find(bus);
        if (bus.empty()) {
          to_switch += count;
        } else if (peer != by_bus.end() && peer->second != i) {
          pairs[{i, peer->second}] += count;
        }  // else a GPU that this job did not see
      }
      if (to_switch == 0) continue;
      if (!has_switch) node.devices.push_back({DeviceKind::nvswitch, "nvswitch"});
      has_switch = true;
      wire(gpus[i].name, "nvswitch", LinkKind::nvlink, to_switch * gpu.link_GBps, source);
    }
    for (const auto& [pair, count] : pairs) {
      const auto back = pairs.find({pair.second, pair.first});
      if (back == pairs.end() || back->second != count)
        refuse_dump(file, 0,
                    fmt::format("{} NVLinks from {} to {}, but {} back", count, gpus[pair.first].name,
                                gpus[pair.second].name, back == pairs.end() ? 0 : back->second),
                    "as many both ways: links are full duplex");
      if (pair.first < pair.second)
        wire(gpus[pair.first].name, gpus[pair.second].name, LinkKind::nvlink, count * gpu.link_GBps, source);
    }
  }
};

}  // namespace

ImportedTopology import_nccl_topology(std::string_view text, const std::string& file, const TopologyRequest& request) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  Reader reader{text, file, {}, {}, {}, {}, 0};
  if (!parsed) {
    const auto end = text.begin() + std::min<std::ptrdiff_t>(parsed.offset, static_cast<std::ptrdiff_t>(text.size()));
    refuse_dump(file, 1 + static_cast<int>(std::count(text.begin(), end, '\n')), parsed.description(),
                "well-formed XML");
  }
  const pugi::xml_node system = document.child("system");
  if (!system)
    refuse_dump(file, 1, fmt::format("<{}>", document.first_child().name()), "NCCL's <system version=\"1\">");
  for (const pugi::xml_node& cpu : system.children("cpu")) reader.read_cpu(cpu);
  if (reader.gpus.empty()) reader.refuse(system, "no <gpu>", "at least one GPU below <system><cpu><pci>");
  std::sort(reader.gpus.begin(), reader.gpus.end(), [](const FoundGpu& a, const FoundGpu& b) {
    return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
  });
  const auto in_order = [](const DeviceSpec& a, const DeviceSpec& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
  };
  std::sort(reader.node.devices.begin(), reader.node.devices.end(), in_order);
  const KnownGpu& gpu = known_gpu(request.gpu, reader.gpus.front().compute_capability, file);
  reader.node.source = "NCCL_TOPO_DUMP_FILE";
  reader.add_links(gpu);
  std::vector<std::string> assumed;
  if (request.gpu.empty())
    assumed.push_back(fmt::format("gpu = {}, of compute capability {}.{}", gpu.name, gpu.compute_capability / 10,
                                  gpu.compute_capability % 10));
  return finished_topology(reader.node, gpu, request, file, std::move(assumed));
}

}  // namespace stagecraft

#else

#include "exchange/topology_draft.hpp"

namespace stagecraft {

ImportedTopology import_nccl_topology(std::string_view, const std::string& file, const TopologyRequest&) {
  refuse_dump(file, 0, "XML", "a program that was built with pugixml (Debian: libpugixml-dev)");
}

}  // namespace stagecraft

#endif

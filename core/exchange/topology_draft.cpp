#include "exchange/topology_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

using json = nlohmann::ordered_json;

/// Links and slots: github.com/stas00/ml-engineering @744d01e network; NVIDIA datasheets of the V100 and RTX parts.
constexpr std::array known{
    KnownGpu{"V100-SXM2-32GB", 70, 25, 6, 15.75, "v100-edr"},
    KnownGpu{"V100-SXM2-16GB", 70, 25, 6, 15.75, "v100-edr"},
    KnownGpu{"V100-PCIe-16GB", 70, 0, 0, 15.75, "v100-edr"},
    KnownGpu{"A100-SXM4-80GB", 80, 25, 12, 31.5, "a100-hdr"},
    KnownGpu{"A100-SXM4-40GB", 80, 25, 12, 31.5, "a100-hdr"},
    KnownGpu{"A100-PCIe-80GB", 80, 25, 12, 31.5, "a100-pcie"},
    KnownGpu{"A100-PCIe-40GB", 80, 25, 12, 31.5, "a100-pcie"},
    KnownGpu{"RTX-3090", 86, 14.05, 4, 31.5, "rtx4090-pcie"},
    KnownGpu{"RTX-4090", 89, 0, 0, 31.5, "rtx4090-pcie"},
    KnownGpu{"L40S", 89, 0, 0, 31.5, "rtx4090-pcie"},
    KnownGpu{"H100-SXM5-80GB", 90, 25, 18, 63, "h100-ndr"},
    KnownGpu{"H100-SXM-96GB", 90, 25, 18, 63, "h100-ndr"},
    KnownGpu{"H100-PCIe-80GB", 90, 25, 12, 63, "h100-ndr"},
    KnownGpu{"H200-SXM-141GB", 90, 25, 18, 63, "h100-ndr"},
    KnownGpu{"B200-SXM-180GB", 100, 50, 18, 63, "h100-ndr"},
    KnownGpu{"GB200-186GB", 100, 50, 18, 225, "h100-ndr"},
};

const char* latency_of(LinkKind kind) {
  return kind == LinkKind::nvlink ? "0.3 us" : "0.25 us";
}

std::string rate_text(double GBps) {
  return fmt::format("{:.6g} GB/s", GBps);
}

json node_json(const NodeDraft& node) {
  json devices = json::array(), wires = json::array();
  for (const DeviceSpec& device : node.devices)
    devices.push_back({{"kind", to_text(device.kind)}, {"name", device.name}});
  for (const WireSpec& wire : node.wires) {
    wires.push_back(
        {{"from", wire.from},
         {"to", wire.to},
         {"kind", to_text(wire.kind)},
         {"nominal", rate_text(wire.nominal.value * 1e-9)},
         {"latency", latency_of(wire.kind)},
         {"source", wire.source + "; latency: as NCCL's tuner charges for a hop (NCCL 2.30.7 src/graph/tuning.cc)"}});
  }
  return {{"name", "imported"}, {"devices", devices}, {"wires", wires}, {"source", node.source}};
}

/// The NIC's rate, in words that a cluster file takes.
std::string nic_rate(const NodeDraft& node, const TopologyRequest& request, const std::string& file) {
  if (!request.nic_rate.empty()) return request.nic_rate;
  if (node.nic_GBps > 0) return rate_text(node.nic_GBps);
  refuse_dump(file, 0, "NICs without their rate", "--nic-rate, such as \"400 Gb/s\"");
}

json fabric_json(const NodeDraft& node, const TopologyRequest& request, const std::string& file,
                 std::vector<std::string>& assumed) {
  const bool has_nic = std::any_of(node.devices.begin(), node.devices.end(),
                                   [](const DeviceSpec& device) { return device.kind == DeviceKind::nic; });
  if (request.nodes > 1 && !has_nic)
    refuse_dump(file, 0, fmt::format("--nodes {}, but no NIC in the node", request.nodes), "a node with NICs",
                "--nodes 1");
  if (request.nodes <= 1 && (!has_nic || (request.nic_rate.empty() && node.nic_GBps <= 0))) return {{"kind", "none"}};
  assumed.emplace_back("fabric: one switch that all NICs hang on; Slurm's topology.conf can say more");
  return {{"kind", "single_switch"},
          {"nic_nominal", nic_rate(node, request, file)},
          {"nic_latency", "0.6 us"},
          {"switch_latency", "150 ns"},
          {"source", node.source + "; adapter latency: the figure of HDR, github.com/stas00/ml-engineering @744d01e "
                                   "network/README.md; switch latency: NVIDIA Quantum-2"}};
}

}  // namespace

void refuse_dump(const std::string& file, int line, const std::string& got, const std::string& expected,
                 const std::string& nearest) {
  constexpr std::size_t most = 120;
  throw InputError(
      InputProblem{file, line, 0, "", got.size() > most ? got.substr(0, most) + "..." : got, expected, nearest});
}

const KnownGpu& known_gpu(const std::string& wanted, int compute_capability, const std::string& file) {
  std::vector<std::string> names;
  for (const KnownGpu& gpu : known) {
    names.emplace_back(gpu.name);
    if (wanted.empty() ? gpu.compute_capability == compute_capability : wanted == gpu.name) return gpu;
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (!wanted.empty())
    refuse_dump("--gpu", 0, fmt::format("\"{}\"", wanted), "one of " + list, nearest_word(wanted, names));
  refuse_dump(file, 0,
              compute_capability > 0 ? fmt::format("a GPU of compute capability {}", compute_capability)
                                     : "no word on which GPU it is",
              "--gpu with one of " + list);
}

ImportedTopology finished_topology(const NodeDraft& node, const KnownGpu& gpu, const TopologyRequest& request,
                                   const std::string& file, std::vector<std::string> assumed) {
  json cluster;
  cluster["name"] = request.name;
  cluster["source"] = node.source;
  cluster["gpu"] = gpu.name;
  cluster["nodes"] = std::max<std::int64_t>(1, request.nodes);
  cluster["node"] = node_json(node);
  if (request.base != nullptr) {
    cluster["node"]["host_memory"] = fmt::format("{:.6g} GB", request.base->node.host_memory.value * 1e-9);
  } else {
    cluster["node"]["host_memory"] = "1 TB";
    assumed.emplace_back("node.host_memory = 1 TB");
  }
  assumed.emplace_back("achieved rates = nominal rates: a dump measures nothing");
  cluster["fabric"] = fabric_json(node, request, file, assumed);
  cluster["calibration"] = gpu.calibration;
  assumed.push_back(fmt::format("calibration = {}", gpu.calibration));
  return {cluster.dump(2, ' ', false, json::error_handler_t::replace) + "\n", std::move(assumed)};
}

ImportedTopology resized_base(const TopologyRequest& request, const std::string& file, std::int64_t nodes,
                              std::int64_t nodes_per_leaf_group, std::vector<std::string> assumed) {
  if (request.base == nullptr)
    refuse_dump(file, 0, "nodes without a word on what is in them", "--base, the cluster whose nodes they are");
  json cluster;
  cluster["extends"] = request.base_name;
  cluster["name"] = request.name;
  cluster["nodes"] = nodes;
  assumed.push_back(fmt::format("the nodes are those of {}", request.base->name));
  const FabricKind kind = request.base->fabric.kind;
  if (nodes > 1 && kind == FabricKind::none)
    refuse_dump("--base", 0, fmt::format("{}, which has no fabric", request.base->name),
                fmt::format("a cluster with a fabric for {} nodes", nodes));
  if (nodes_per_leaf_group > 0 && nodes_per_leaf_group < nodes && kind == FabricKind::single_switch) {
    cluster["fabric"]["kind"] = "fat_tree";
    cluster["fabric"]["nodes_per_leaf_group"] = nodes_per_leaf_group;
  } else if (nodes_per_leaf_group > 0 && kind != FabricKind::single_switch && kind != FabricKind::none) {
    cluster["fabric"]["nodes_per_leaf_group"] = nodes_per_leaf_group;
  }
  return {cluster.dump(2, ' ', false, json::error_handler_t::replace) + "\n", std::move(assumed)};
}

std::vector<DumpLine> dump_lines(std::string_view text) {
  std::vector<DumpLine> lines;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    line = line.substr(0, line.find('#'));
    while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.remove_suffix(1);
    while (!line.empty() && static_cast<unsigned char>(line.front()) <= ' ') line.remove_prefix(1);
    if (!line.empty()) lines.push_back({number, std::string(line)});
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (static_cast<unsigned char>(c) > ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace stagecraft

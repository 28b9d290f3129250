// topologies/nccl/tuner.json and systems.json.

#include <algorithm>

#include "base/json_fields.hpp"
#include "cost/nccl.hpp"
#include "spec/library.hpp"

namespace stagecraft {
namespace {

constexpr const char* folder = "nccl";

NcclTriple read_triple(const JsonNode& node) {
  const std::vector<double> values = read_numbers(node, 0, 1e6);
  if (values.size() != 3) node.fail("three numbers");
  return {values[0], values[1], values[2]};
}

std::map<std::string, NcclTriple> read_triples(const JsonNode& object) {
  std::map<std::string, NcclTriple> triples;
  for (const JsonNode& member : object.members()) {
    const std::vector<std::string> names = nccl_algorithm_names();
    if (std::find(names.begin(), names.end(), member.key()) == names.end()) {
      only_keys(object, names);
    }
    triples[member.key()] = read_triple(member);
  }
  return triples;
}

NcclArchitecture read_architecture(const JsonNode& node) {
  only_keys(node,
            {"channels", "nvls_channels", "ring_channel_GBps", "nvls_GBps", "nvls_from_ranks", "ll_max_GBps",
             "ring_ll128_channel_GBps", "tree_ll128_channel_GBps", "tree_channel_GBps", "nvls_tree_channel_GBps"});
  NcclArchitecture gpu;
  gpu.channels = static_cast<std::int32_t>(read_integer(node.at("channels"), 1, 64));
  gpu.nvls_channels = static_cast<std::int32_t>(read_integer(node.at("nvls_channels"), 0, 64));
  gpu.ring_channel = read_number(node.at("ring_channel_GBps"), 0, 1e6);
  gpu.nvls = read_number(node.at("nvls_GBps"), 0, 1e6);
  gpu.nvls_from_ranks = static_cast<std::int32_t>(read_integer(node.at("nvls_from_ranks"), 0, 1024));
  gpu.ll_max = read_triple(node.at("ll_max_GBps"));
  gpu.ring_ll128_channel = read_triple(node.at("ring_ll128_channel_GBps"));
  gpu.tree_ll128_channel = read_triple(node.at("tree_ll128_channel_GBps"));
  gpu.tree_channel = read_triple(node.at("tree_channel_GBps"));
  gpu.nvls_tree_channel = read_triple(node.at("nvls_tree_channel_GBps"));
  return gpu;
}

void require(const std::map<std::string, NcclTriple>& triples, const JsonNode& node,
             const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (triples.find(name) == triples.end()) node.at(name);  // throws, naming it
  }
}

void read_optional(const JsonNode& node, const char* key, double min, double max, double& value) {
  if (const auto found = node.find(key)) value = read_number(*found, min, max);
}

NcclMachine read_machine(const JsonNode& node, const std::string& architecture) {
  only_keys(node, {"ring_in_node_GBps", "network_GBps", "peer_GBps", "peer_network_GBps", "nvls_GBps", "sharp"});
  NcclMachine machine;
  machine.architecture = architecture;
  read_optional(node, "ring_in_node_GBps", 0, 1e6, machine.ring_in_node);
  read_optional(node, "network_GBps", 0, 1e6, machine.network);
  read_optional(node, "peer_GBps", 0, 1e6, machine.peer);
  read_optional(node, "peer_network_GBps", 0, 1e6, machine.peer_network);
  read_optional(node, "nvls_GBps", 0, 1e6, machine.nvls);
  if (const auto sharp = node.find("sharp")) machine.sharp = read_boolean(*sharp);
  return machine;
}

NcclSystem read_system(const JsonNode& node) {
  only_keys(node, {"name", "source", "hardware", "clusters", "min_nodes", "architecture", "host_us", "latency_scale",
                   "levels_hidden", "fill_us", "sqrt_us", "low_latency_rate", "ring_rate", "nvls_rate", "peer_us",
                   "peer_rate", "peer_network_rate", "pair_GBps", "machine"});
  NcclSystem system;
  system.name = read_nonempty_string(node.at("name"));
  system.source = read_nonempty_string(node.at("source"));
  system.hardware = read_nonempty_string(node.at("hardware"));
  if (const auto clusters = node.find("clusters")) system.clusters = read_strings(*clusters);
  if (const auto nodes = node.find("min_nodes")) {
    system.min_nodes = static_cast<std::int32_t>(read_integer(*nodes, 1, 1 << 20));
  }
  system.architecture = read_nonempty_string(node.at("architecture"));
  read_optional(node, "host_us", 0, 1e6, system.host_us);
  read_optional(node, "latency_scale", 0, 100, system.latency_scale);
  read_optional(node, "levels_hidden", 0, 10, system.levels_hidden);
  read_optional(node, "fill_us", 0, 1e6, system.fill_us);
  read_optional(node, "sqrt_us", 0, 10, system.sqrt_us);
  read_optional(node, "low_latency_rate", 1e-3, 10, system.low_latency_rate);
  read_optional(node, "ring_rate", 1e-3, 10, system.ring_rate);
  read_optional(node, "nvls_rate", 1e-3, 10, system.nvls_rate);
  read_optional(node, "peer_us", 0, 1e6, system.peer_us);
  read_optional(node, "peer_rate", 1e-3, 10, system.peer_rate);
  read_optional(node, "peer_network_rate", 1e-3, 10, system.peer_network_rate);
  read_optional(node, "pair_GBps", 0, 1e6, system.pair_GBps);
  system.machine = read_machine(node.at("machine"), system.architecture);
  return system;
}

}  // namespace

NcclTuner load_nccl_tuner(const Library& library) {
  const JsonDocument document = JsonDocument::from_file(locate("tuner", folder, library));
  const JsonNode root = document.root();
  only_keys(root, {"source", "order", "base_latency_us", "hop_latency_us", "network_overhead_us",
                   "simple_overhead_factor", "tree_correction", "architectures"});
  NcclTuner tuner;
  tuner.base = read_triples(root.at("base_latency_us"));
  require(tuner.base, root.at("base_latency_us"), {"tree", "ring", "pat"});
  for (const char* link : {"nvlink", "pcie", "network"}) {
    const JsonNode node = root.at("hop_latency_us").at(link);
    tuner.hops[link] = read_triples(node);
    require(tuner.hops[link], node, {"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree"});
  }
  require(tuner.hops["network"], root.at("hop_latency_us").at("network"), {"pat"});
  tuner.network_overhead = read_number(root.at("network_overhead_us"), 0, 1e3);
  tuner.simple_overhead_factor = read_number(root.at("simple_overhead_factor"), 0, 1e3);
  std::size_t protocol = 0;
  for (const char* name : {"ll", "ll128", "simple"}) {
    tuner.tree_correction[protocol++] = read_numbers(root.at("tree_correction").at(name), 0.01, 1);
  }
  for (const JsonNode& member : root.at("architectures").members()) {
    tuner.architectures[member.key()] = read_architecture(member);
  }
  return tuner;
}

std::vector<NcclSystem> load_nccl_systems(const Library& library) {
  const JsonDocument document = JsonDocument::from_file(locate("systems", folder, library));
  std::vector<NcclSystem> systems;
  for (const JsonNode& node : document.root().at("systems").elements()) {
    systems.push_back(read_system(node));
  }
  return systems;
}

NcclSystem find_nccl_system(const std::vector<NcclSystem>& systems, const ClusterSpec& cluster, std::int32_t nodes,
                            const std::string& wanted) {
  const NcclSystem* own = nullptr;
  const NcclSystem* generic = nullptr;
  std::string names;
  for (const NcclSystem& system : systems) {
    if (!wanted.empty() && system.name == wanted) return system;
    names += (names.empty() ? "" : "; ") + system.name;
    const auto& clusters = system.clusters;
    if (system.min_nodes <= nodes && std::find(clusters.begin(), clusters.end(), cluster.name) != clusters.end() &&
        (own == nullptr || system.min_nodes > own->min_nodes)) {
      own = &system;
    }
    if (system.name == "generic " + cluster.gpu.architecture) generic = &system;
  }
  if (!wanted.empty()) {
    InputProblem problem;
    problem.got = "\"" + wanted + "\"";
    problem.expected = "a system of topologies/nccl/systems.json: " + names;
    throw InputError(problem);
  }
  if (own != nullptr) return *own;
  if (generic != nullptr) return *generic;
  NcclSystem plain;
  plain.name = "the tuner's own constants";
  plain.source = "no table of this hardware";
  return plain;
}

}  // namespace stagecraft

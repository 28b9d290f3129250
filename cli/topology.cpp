#include "topology/topology.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "report/number_text.hpp"
#include "report/topology_svg.hpp"
#include "spec/scenario.hpp"
#include "topology_verbs.hpp"

namespace stagecraft::cli {
namespace {

const char* word_of(FabricKind kind) {
  switch (kind) {
    case FabricKind::none:
      return "no fabric";
    case FabricKind::single_switch:
      return "one switch";
    case FabricKind::fat_tree:
      return "fat tree";
    case FabricKind::rail_optimised:
      return "rail-optimised";
    case FabricKind::dragonfly:
      return "dragonfly";
  }
  return "";
}

std::string list(const Library& library) {
  std::string out = fmt::format("{:<24}{:>7}{:>7}  {:<22}{:>10}{:>6}  {}\n", "name", "nodes", "GPUs", "GPU", "memory",
                                "NICs", "fabric");
  for (const std::string& name : cluster_names(library)) {
    const ClusterSpec cluster = load_cluster(name, library);
    out += fmt::format("{:<24}{:>7}{:>7}  {:<22}{:>10}{:>6}  {}\n", name, cluster.nodes,
                       cluster.nodes * gpus_per_node(cluster.node),
                       cluster.gpu.name + (cluster.other_nodes.empty() ? "" : ", ..."),
                       gibibytes(cluster.gpu.memory.value), nics_per_node(cluster.node), word_of(cluster.fabric.kind));
  }
  return out;
}

std::string gpu_lines(const GpuSpec& gpu) {
  std::string out = fmt::format("  GPU          {}, {}, {} usable, {} to it\n", gpu.name, gibibytes(gpu.memory.value),
                                gibibytes(gpu.memory_usable.value), to_text(gpu.memory_bandwidth));
  for (const auto& [dtype, rate] : gpu.peak) {
    out += fmt::format("               {:<6} {} peak\n", to_text(dtype), to_text(rate));
  }
  if (!gpu.source.empty()) out += fmt::format("               source: {}\n", wrapped(gpu.source, 77, 23));
  return out;
}

std::string route_line(const Topology& topology, const char* what, GpuId from, GpuId to) {
  Route route;
  find_route(topology, from, to, route);
  std::string path;
  for (const LinkId id : route.links) path += fmt::format("{}{}", path.empty() ? "" : ", ", link(topology, id).name);
  return fmt::format("  {:<12} {} over {} links, {} latency{}\n               {}\n", what, to_text(route.bottleneck),
                     route.links.size(), to_text(route.latency),
                     route.staged_through_host ? ", staged through host memory" : "", wrapped(path, 85, 15));
}

/// Links whose names differ in numbers only and whose figures are equal, with how many there are; in the order of their
/// first.
std::vector<std::pair<Link, int>> alike(const std::vector<Link>& links) {
  std::vector<std::pair<Link, int>> groups;
  for (Link link : links) {
    std::replace_if(
        link.name.begin(), link.name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }, 'N');
    const auto same = [&](const auto& group) {
      return group.first.name == link.name && group.first.nominal == link.nominal &&
             group.first.achieved == link.achieved && group.first.latency == link.latency;
    };
    const auto known = std::find_if(groups.begin(), groups.end(), same);
    if (known == groups.end()) {
      groups.emplace_back(std::move(link), 1);
    } else {
      ++known->second;
    }
  }
  return groups;
}

/// A kind of node: its GPU, its NICs and its links.
std::string kind_lines(const Topology& topology, std::size_t kind) {
  const ClusterSpec& cluster = topology.cluster;
  std::string out = gpu_lines(gpu_of_kind(cluster, kind));
  if (cluster.fabric.kind != FabricKind::none) {
    const NicRate nic = nic_rate_of_kind(cluster, kind);
    out += fmt::format("  NIC          {} each way, {} achieved\n", to_text(nic.nominal), to_text(nic.achieved));
  }
  return out;
}

std::string link_lines(const std::vector<Link>& links) {
  std::string out = fmt::format("  links of a node ({})\n", links.size());
  for (const auto& [wire, count] : alike(links)) {
    out += fmt::format("    {:>3} x {:<26} {:>12} nominal {:>12} achieved {:>10}\n", count, wire.name,
                       to_text(wire.nominal), to_text(wire.achieved), to_text(wire.latency));
  }
  return out;
}

/// Nodes of other kinds, each with its count, its place and a route to the cluster's own.
std::string other_lines(const Topology& topology) {
  const ClusterSpec& cluster = topology.cluster;
  std::string out;
  for (std::size_t kind = 1; kind < kind_count(cluster); ++kind) {
    const OtherNodes& other = cluster.other_nodes[kind - 1];
    const auto first = static_cast<std::int32_t>(first_node_of(cluster, kind));
    out += fmt::format("\nnodes {} to {}: as in {}, {} GPUs and {} NICs each\n", first, first + other.count - 1,
                       other.cluster, topology.gpus_per_node, nics_per_node(other.node));
    out += kind_lines(topology, kind);
    const auto gpu = GpuId(first * topology.gpus_per_node);
    if (topology.gpus_per_node > 1) out += route_line(topology, "in a node", gpu, GpuId(gpu.value + 1));
    out += route_line(topology, "to node 0", gpu, GpuId(std::int32_t{0}));
    out += link_lines(wiring_of(topology, NodeId(first)).node_links);
  }
  return out;
}

std::string show(const std::string& name, const Library& library) {
  const ClusterSpec cluster = load_cluster(name, library);
  const Topology topology = build_topology(cluster);
  std::string out = fmt::format("{}: {} nodes of {} GPUs and {} NICs, {}\n", cluster.name, cluster.nodes,
                                topology.gpus_per_node, nics_per_node(cluster.node), word_of(cluster.fabric.kind));
  if (!cluster.source.empty()) out += fmt::format("  source       {}\n", wrapped(cluster.source, 85, 15));
  out += kind_lines(topology, 0);
  const auto first = GpuId(std::int32_t{0});
  if (topology.gpus_per_node > 1) out += route_line(topology, "in a node", first, GpuId(std::int32_t{1}));
  if (cluster.nodes > 1) out += route_line(topology, "between", first, GpuId(topology.gpus_per_node));
  out += link_lines(topology.node_links) + other_lines(topology);
  return out;
}

}  // namespace

int run_topology(const Words& words, const Console& console) {
  if (!words.empty() && words.front() == "check") return run_topology_check({words.begin() + 1, words.end()}, console);
  if (!words.empty() && words.front() == "import")
    return run_topology_import({words.begin() + 1, words.end()}, console);
  std::string action = "list", name, output;
  const auto app =
      make_app("topology", "Lists the known clusters, shows one with its links and routes, checks one, or imports one.",
               {{"topology list", ""},
                {"topology show selene", "GPU, NICs, links, and two routes"},
                {"topology show selene -o selene.svg", "a picture of a node's wiring and of the fabric"},
                {"topology check my-cluster.json", "what is wrong or odd with its wiring"},
                {"topology import nccl-topo.xml -o mine.json", "from what a cluster prints of itself"}});
  app->add_option("ACTION", action, "list, show, check or import");
  app->add_option("NAME", name, "A name of the list, or a cluster file");
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  check_list_or_show("topology", action, name);
  keep_apart({name}, {{"--output", output}});
  const Library library = default_library(console.executable);
  const bool picture = action == "show" && output.ends_with(".svg");
  const std::string text = picture            ? topology_svg(build_topology(load_cluster(name, library)))
                           : action == "list" ? list(library)
                                              : show(name, library);
  return write_output(console, output, text), ok;
}

}  // namespace stagecraft::cli

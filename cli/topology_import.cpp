#include "exchange/topology_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/file_io.hpp"
#include "base/refusal.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "spec/parse_cluster.hpp"
#include "topology/check_topology.hpp"
#include "topology_verbs.hpp"

namespace stagecraft::cli {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;

const TopologyForm& form_of(const std::string& wanted, const std::string& text) {
  const std::string name = wanted.empty() ? guess_topology_form(text) : wanted;
  const auto forms = topology_forms();
  return *std::find_if(forms.begin(), forms.end(), [&](const TopologyForm& form) { return name == form.name; });
}

std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (const TopologyForm& form : topology_forms()) names.emplace_back(form.name);
  return names;
}

}  // namespace

int run_topology_import(const Words& words, const Console& console) {
  std::string file, form, output;
  TopologyRequest request;
  const auto app = make_app(
      "topology import", "Turns what a cluster prints of itself into a cluster file.",
      {{"topology import nccl-topo.xml -o mine.json", "NCCL_TOPO_DUMP_FILE=nccl-topo.xml, from any NCCL job"},
       {"topology import topo.txt --gpu H100-SXM5-80GB --nic-rate \"400 Gb/s\" --nodes 16", "nvidia-smi topo -m"},
       {"topology import topology.conf --base eos", "Slurm: how many nodes, and how many on a leaf"},
       {"topology import hostfile --base mine.json", "MPI or DeepSpeed: how many nodes"}});
  app->add_option("FILE", file, "The dump")->required();
  app->add_option("--from", form, fmt::format("{}; found out if left out", fmt::join(form_names(), ", ")))
      ->check(CLI::IsMember(form_names()));
  app->add_option("--base", request.base_name, "Cluster whose nodes these are, or whose host memory they have");
  app->add_option("--gpu", request.gpu, "GPU of the library, where the dump does not say");
  app->add_option("--nodes", request.nodes, "Nodes that are wired like this one")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  app->add_option("--nic-rate", request.nic_rate, "Rate of a NIC, where the dump does not say, \"400 Gb/s\"");
  app->add_option("--name", request.name, "Name of the cluster");
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({file, request.base_name}, {{"--output", output}});

  const Library library = default_library(console.executable);
  std::optional<ClusterSpec> base;
  if (!request.base_name.empty()) base = load_cluster(request.base_name, library);
  if (base) request.base = &*base;
  const std::string text = read_file(file, most_bytes);
  const ImportedTopology imported = form_of(form, text).import(text, file, request);
  // What is written can be read, and a job can run on it.
  const ClusterSpec cluster = parse_cluster(imported.cluster, output.empty() ? "imported.json" : output, library);
  const Findings findings = check_topology(cluster);
  refuse_errors(file, findings);
  write_output(console, output, imported.cluster);
  for (const Finding& finding : findings) console.message("topology", to_text(finding));
  for (const std::string& line : imported.assumed) console.message("assumed", line);
  return ok;
}

}  // namespace stagecraft::cli

#include <array>

#include "exchange/topology_draft.hpp"

namespace stagecraft {
namespace {

constexpr std::array forms{
    TopologyForm{"nccl", "the XML that NCCL writes to NCCL_TOPO_DUMP_FILE", import_nccl_topology},
    TopologyForm{"nvidia-smi", "the matrix of `nvidia-smi topo -m`", import_nvidia_smi},
    TopologyForm{"slurm", "Slurm's topology.conf", import_slurm_topology},
    TopologyForm{"hostfile", "a host file of MPI or DeepSpeed", import_host_file},
};

}  // namespace

std::span<const TopologyForm> topology_forms() {
  return forms;
}

std::string guess_topology_form(std::string_view text) {
  const std::vector<DumpLine> lines = dump_lines(text.substr(0, 4096));
  if (!lines.empty() && lines.front().text.front() == '<') return "nccl";
  if (text.find("GPU0") != std::string_view::npos) return "nvidia-smi";
  for (const char* key : {"SwitchName=", "BlockName=", "switchname="}) {
    if (text.find(key) != std::string_view::npos) return "slurm";
  }
  return "hostfile";
}

}  // namespace stagecraft

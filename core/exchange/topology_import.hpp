#pragma once
// What a cluster can print of itself, to a cluster file: NCCL's topology XML (NCCL_TOPO_DUMP_FILE), `nvidia-smi topo
// -m`, Slurm's topology.conf, a host file.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/cluster_spec.hpp"

namespace stagecraft {

struct TopologyRequest {
  std::string name = "imported";
  std::string gpu;                    // of the library, where the text does not say; wins where it does
  std::int64_t nodes = 0;             // 0: as the text says, else 1
  std::string nic_rate;               // "400 Gb/s", where the text does not say
  std::string base_name;              // the cluster whose node (or fabric) stands where the text has none
  const ClusterSpec* base = nullptr;  // the same, read
};

struct ImportedTopology {
  std::string cluster;               // JSON text
  std::vector<std::string> assumed;  // what the text does not say
};

struct TopologyForm {
  const char* name;  // "nccl"
  const char* what;
  ImportedTopology (*import)(std::string_view text, const std::string& file, const TopologyRequest& request);
};
std::span<const TopologyForm> topology_forms();

/// The form that a text looks like.
std::string guess_topology_form(std::string_view text);

/// All throw InputError with the line at fault.
ImportedTopology import_nccl_topology(std::string_view text, const std::string& file, const TopologyRequest& request);
ImportedTopology import_nvidia_smi(std::string_view text, const std::string& file, const TopologyRequest& request);
ImportedTopology import_slurm_topology(std::string_view text, const std::string& file, const TopologyRequest& request);
ImportedTopology import_host_file(std::string_view text, const std::string& file, const TopologyRequest& request);

}  // namespace stagecraft

// The machines: a known cluster by the GPU's name, its fabric at the rate that the record states.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

struct Machine {
  const char* gpu;       // part of the record's name
  double memory_gb;      // 0: any
  const char* cluster;   // whose nodes and fabric are taken
  const char* library;   // GPU of the library, "" for the cluster's own
  const char* hardware;  // profile; "" if there is none: memory only
  double nic_gbit_s;     // nominal, one per GPU
  double achieved;       // of nominal, as in the cluster's file
  std::int64_t gpus_per_node = 8;
};

constexpr std::array machines{
    Machine{"A100-SXM4-40GB", 0, "selene", "A100-SXM4-40GB", "a100-hdr", 200, 0.96},
    Machine{"A100-PCIe", 0, "selene", "", "", 200, 0.96},
    Machine{"A100", 0, "selene", "", "a100-hdr", 200, 0.96},
    Machine{"Ampere", 0, "selene", "", "a100-hdr", 200, 0.96},
    Machine{"H100", 96, "eos", "H100-SXM-96GB", "h100-500w", 400, 0.96},
    Machine{"500 W", 0, "eos", "H100-SXM-96GB", "h100-500w", 400, 0.96},
    Machine{"H100", 0, "eos", "", "h100-ndr", 400, 0.96},
    Machine{"H200", 0, "hgx-h200", "", "h200-hgx", 400, 0.96},
    Machine{"GB300", 0, "gb300-nvl72", "", "gb300-nvl72", 800, 0.96, 72},
    Machine{"B300", 0, "hgx-b300", "", "b300-hgx", 800, 0.96},
    Machine{"GB200", 0, "gb200-nvl72", "", "gb200-nvl72", 400, 0.96, 72},
    Machine{"B200", 0, "hgx-b200", "", "b200-hgx", 400, 0.96},
    Machine{"V100-SXM2-32GB", 0, "jean-zay-v100", "", "v100-opa", 100, 1, 4},
    Machine{"V100-SXM2-16GB", 0, "jean-zay-v100", "V100-SXM2-16GB", "v100-opa", 100, 1, 4},
};

const Machine* find_machine(const Record& record) {
  const auto found = std::find_if(machines.begin(), machines.end(), [&](const Machine& machine) {
    const bool memory = machine.memory_gb == 0 || record.gpu_memory_gb == machine.memory_gb;
    return memory && contains(record.gpu, machine.gpu);
  });
  return found == machines.end() ? nullptr : &*found;
}

/// The number that ends right before `end`, blanks skipped; 0 if there is none.
double number_before(const std::string& text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  const std::size_t digits = end - begin;
  return digits == 0 || digits > 5 ? 0 : std::stod(text.substr(begin, digits));
}

/// Nominal Gb/s of all NICs of a node together, 0 if the text does not say: "8 x 400 Gb/s", "4x Omni-Path 100 Gb/s",
/// "400 Gb/s per GPU", "1600 Gbps node-node".
double node_gbit_s(const std::string& text, double gpus_per_node) {
  std::size_t at = std::min(text.find("Gb/s"), text.find("Gbps"));
  if (at == std::string::npos) return 0;
  const double rate = number_before(text, at);
  if (text.find("per GPU", at) < at + 12) return rate * gpus_per_node;
  const std::size_t clause = text.find_last_of(";,", at);
  std::size_t times = std::string::npos;
  for (std::size_t i = clause == std::string::npos ? 0 : clause; i < at; ++i) {
    if (text[i] == 'x' && number_before(text, i) > 0) times = i;
  }
  return times == std::string::npos ? rate : rate * number_before(text, times);
}

/// A100s of DGX machines with InfiniBand, of Jean Zay with Omni-Path, and all others (HGX boards, RoCE).
std::string hardware_of(const Draft& draft, const Machine& machine) {
  if (std::string(machine.hardware) != "a100-hdr") return machine.hardware;
  const std::string wires = draft.record.interconnect + draft.software.machines;
  if (contains(wires, "Omni-Path")) return "a100-opa";
  const bool dgx = contains(wires, "InfiniBand") || contains(wires, "DGX") || contains(wires, "Selene");
  return dgx ? machine.hardware : "a100-hgx";
}

/// Of a rack with more trays than the job fills, the most that divide those of the job; a tray has four GPUs.
std::int64_t used_per_node(const Machine& machine, std::int64_t gpus) {
  constexpr std::int64_t tray = 4, rack = 72;
  const std::int64_t all = machine.gpus_per_node;
  if (all != rack || gpus <= all || gpus % tray != 0) return all;
  std::int64_t trays = rack / tray;
  while (gpus / tray % trays != 0) --trays;
  return trays * tray;
}

}  // namespace

void map_cluster(Draft& draft) {
  const Record& record = draft.record;
  if (record.gpu.empty()) throw Unmapped("the GPU is not stated");
  const Machine* machine = find_machine(record);
  if (machine == nullptr) throw Unmapped(fmt::format("no machine with the GPU \"{}\" is known", record.gpu));
  const std::int64_t gpus = stated(record.gpus, "gpus");
  const std::int64_t per_node = used_per_node(*machine, gpus);
  const std::int64_t nodes = (gpus + per_node - 1) / per_node;
  set(draft, "/cluster/extends", machine->cluster);
  set(draft, "/cluster/nodes", nodes);
  if (per_node < machine->gpus_per_node && nodes > 1) {
    set(draft, "/cluster/gpus_per_node", per_node);
    infer(draft, "/cluster/gpus_per_node", fmt::format("{}", per_node),
          "Slurm segments as NVIDIA's scripts choose them (NVIDIA-NeMo/Megatron-Bridge, scripts/performance): as many "
          "trays of four GPUs of each rack as divide the job");
  }
  if (*machine->library != '\0') set(draft, "/cluster/gpu", machine->library);
  infer(draft, "/cluster/extends", machine->cluster, fmt::format("nodes with {}", record.gpu));
  double all_nics = node_gbit_s(record.interconnect, static_cast<double>(per_node));
  const bool crosses_leaves = static_cast<double>(nodes) > draft.software.leaf_nodes;
  if (all_nics <= 0 && crosses_leaves) all_nics = draft.software.node_gbit_s;
  const double nic = all_nics / static_cast<double>(per_node);
  if (nodes > 1 && all_nics <= 0) {
    infer(draft, "/cluster/fabric", fmt::format("{} Gb/s per GPU", machine->nic_gbit_s),
          "the rate between nodes is not stated: as in the cluster's file");
  }
  if (all_nics > 0 && std::abs(nic - machine->nic_gbit_s) > 1) {
    set(draft, "/cluster/fabric/nic_nominal", fmt::format("{:.6g} Gb/s", nic));
    set(draft, "/cluster/fabric/nic_achieved", fmt::format("{:.6g} GB/s", nic / 8 * machine->achieved));
    infer(draft, "/cluster/fabric/nic_nominal", fmt::format("{:.6g} Gb/s", nic),
          fmt::format("{:.6g} Gb/s per node, shared evenly by one adapter per GPU", all_nics));
  }
  if (!record.calibration.empty()) return set(draft, "/calibration", record.calibration);
  const std::string hardware = hardware_of(draft, *machine);
  if (hardware.empty()) {
    draft.mapping.no_step_time = fmt::format("no hardware profile of {} exists", record.gpu);
    return;
  }
  set(draft, "/calibration", hardware + "+" + draft.software.profile);
  infer(draft, "/calibration", hardware + "+" + draft.software.profile,
        fmt::format("{}; {}", record.gpu, draft.software.why));
}

}  // namespace stagecraft

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "cost/nccl.hpp"

namespace stagecraft {

namespace {

/// NCCL tunes for the least compute capability of all ranks (src/init.cc).
std::string oldest_architecture(const Topology& topology, const std::vector<GpuId>& members) {
  constexpr std::array<std::string_view, 7> by_age = {"volta",  "turing", "ampere",   "ada",
                                                      "hopper", "cdna3",  "blackwell"};
  const auto age = [&](std::size_t kind) {
    return std::find(by_age.begin(), by_age.end(), gpu_of_kind(topology.cluster, kind).architecture) - by_age.begin();
  };
  std::size_t oldest = kind_of(topology, members.front());
  for (const GpuId gpu : members) {
    if (age(kind_of(topology, gpu)) < age(oldest)) oldest = kind_of(topology, gpu);
  }
  return gpu_of_kind(topology.cluster, oldest).architecture;
}

bool has_switch(const NodeSpec& node) {
  return std::any_of(node.devices.begin(), node.devices.end(),
                     [](const DeviceSpec& device) { return device.kind == DeviceKind::nvswitch; });
}

bool all_have_switch(const Topology& topology, const std::vector<GpuId>& members) {
  return std::all_of(members.begin(), members.end(),
                     [&](GpuId gpu) { return has_switch(node_of_kind(topology.cluster, kind_of(topology, gpu))); });
}

/// A rate in bytes/s, as far as trunks that take so many seconds per byte let it through.
double within_fabric(double rate, double seconds_per_byte) {
  return seconds_per_byte > 0 ? std::min(rate, 1 / seconds_per_byte) : rate;
}

}  // namespace

NcclMachine nccl_machine(const Topology& topology, std::int64_t gpus, const NcclTuner& tuner,
                         const Calibration& calibration) {
  std::vector<GpuId> members;
  members.reserve(static_cast<std::size_t>(gpus));
  for (std::int32_t gpu = 0; gpu < gpus; ++gpu) members.emplace_back(gpu);
  const GroupShape shape = shape_of(topology, members);
  NcclMachine machine;
  machine.architecture = oldest_architecture(topology, members);
  machine.nodes = shape.nodes;
  machine.ranks = shape.ranks;
  machine.nvlink = shape.ranks_per_node < 2 || shape.inside == LinkKind::nvlink;
  const bool through_switch = machine.nvlink && all_have_switch(topology, members);
  machine.peer = shape.intra_achieved.value * 1e-9;
  const auto known = tuner.architectures.find(machine.architecture);
  if (shape.ranks_per_node > 1) {
    const double efficiency =
        constant(calibration, shape.staged_through_host ? "host_staging_efficiency" : "ring_efficiency").value;
    machine.ring_in_node = machine.peer * efficiency;
    if (through_switch && known != tuner.architectures.end() && known->second.ring_channel > 0) {
      // What the search for channels ends in, but no more than the wires give.
      machine.ring_in_node = std::min(machine.peer, known->second.channels * known->second.ring_channel);
    }
    if (through_switch && known != tuner.architectures.end() && known->second.nvls > 0 &&
        shape.ranks_per_node >= known->second.nvls_from_ranks) {
      machine.nvls = known->second.nvls * shape.left;
    }
  }
  if (shape.nodes > 1) {
    const FabricShare& fabric = shape.fabric_alone;
    const double nics = shape.inter_achieved.value;
    machine.network = within_fabric(nics, fabric.ring) * 1e-9;
    machine.peer_network = within_fabric(nics / shape.ranks_per_node, fabric.all_to_all) * 1e-9;
  }
  return machine;
}

}  // namespace stagecraft

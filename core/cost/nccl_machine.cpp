#include <algorithm>
#include <numeric>

#include "cost/nccl.hpp"

namespace stagecraft {

NcclMachine nccl_machine(const Topology& topology, std::int64_t gpus, const NcclTuner& tuner,
                         const Calibration& calibration) {
  std::vector<GpuId> members;
  members.reserve(static_cast<std::size_t>(gpus));
  for (std::int32_t gpu = 0; gpu < gpus; ++gpu) members.emplace_back(gpu);
  const GroupShape shape = shape_of(topology, members);
  NcclMachine machine;
  machine.architecture = topology.cluster.gpu.architecture;
  machine.nodes = shape.nodes;
  machine.ranks = shape.ranks;
  machine.nvlink = shape.ranks_per_node < 2 || shape.inside == LinkKind::nvlink;
  const bool through_switch =
      machine.nvlink && std::any_of(topology.cluster.node.devices.begin(), topology.cluster.node.devices.end(),
                                    [](const DeviceSpec& device) { return device.kind == DeviceKind::nvswitch; });
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
    machine.network = shape.inter_achieved.value * 1e-9;
    machine.peer_network = machine.network / shape.ranks_per_node;
  }
  return machine;
}

}  // namespace stagecraft

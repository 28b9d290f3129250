#include "cost/cost_model.hpp"

#include <algorithm>

#include "cost/straggler.hpp"
#include "topology/host_link.hpp"

namespace stagecraft {
namespace {

GroupShape group_shape(const Plan& plan, const Topology& topology, Axis axis) {
  std::vector<GpuId> members;
  for (const Rank rank : group_of(plan.degrees, axis, representative(plan, PipelineRank{0}))) {
    members.push_back(gpu_of(plan, rank));
  }
  return shape_of(topology, members, world_size(plan.degrees));
}

}  // namespace

CostModel make_cost_model(const Plan& plan, const Topology& topology, const Calibration& calibration) {
  CostModel model;
  model.gpu = plan.gpu;
  model.calibration = calibration;
  model.law = kernel_law(plan.gpu, calibration);
  const NodeSpec& node = topology.cluster.node;
  const double sharers = static_cast<double>(std::min<std::int64_t>(topology.gpus_per_node, world_size(plan.degrees)));
  model.law.host_adam_s = plan.run.offload.host_adam_s * sharers;
  const HostRate host = host_rate(node, static_cast<std::int64_t>(sharers));
  model.host = {host.alone, host.shared};
  // Drives are shared by all GPUs all the time: they are no link of the topology on which copies could meet.
  const double drives = std::min(node.nvme_read.value, node.nvme_write.value) / std::max(1.0, sharers);
  model.nvme = {{std::min(host.alone.value, drives)}, {std::min(host.shared.value, drives)}};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    model.groups[axis] = group_shape(plan, topology, static_cast<Axis>(axis));
  }
  const double sharding = shape_of(model, Axis::shard).ranks;
  model.slowest =
      constant(calibration, "rank_spread").value * expected_maximum(static_cast<double>(world_size(plan.degrees)));
  model.block_wait = constant(calibration, "block_spread").value * expected_maximum(sharding);
  model.broadcasts = {constant(calibration, "broadcast_ms").value * 1e-3 * sharding};
  return model;
}

const GroupShape& shape_of(const CostModel& model, Axis axis) {
  return model.groups[static_cast<std::size_t>(axis)];
}

}  // namespace stagecraft

#include "cost/cost_model.hpp"

#include <algorithm>

#include "cost/faulty_groups.hpp"
#include "cost/straggler.hpp"
#include "topology/host_link.hpp"

namespace stagecraft {
CostModel make_cost_model(const Plan& plan, const Topology& topology, const Calibration& calibration) {
  CostModel model;
  model.gpu = plan.gpu;
  model.calibration = calibration;
  model.law = kernel_law(plan.gpu, calibration, plan.run.cuda_graphs);
  model.law.data_loading_s = plan.run.data_loading_s;
  const NodeSpec& node = topology.cluster.node;
  const double sharers = static_cast<double>(std::min<std::int64_t>(topology.gpus_per_node, world_size(plan.degrees)));
  model.law.host_adam_s = plan.run.offload.host_adam_s * sharers;
  HostRate host = host_rate(topology.wired, static_cast<std::int64_t>(sharers));
  for (const NodeWiring& variant : topology.variants) {
    const HostRate faulty = host_rate(variant.wired, static_cast<std::int64_t>(sharers));
    host = {std::min(host.alone, faulty.alone), std::min(host.shared, faulty.shared)};
  }
  model.host = {host.alone, host.shared};
  // Drives are shared by all GPUs all the time: they are no link of the topology on which copies could meet.
  const double drives = std::min(node.nvme_read.value, node.nvme_write.value) / std::max(1.0, sharers);
  model.nvme = {{std::min(host.alone.value, drives)}, {std::min(host.shared.value, drives)}};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    model.groups[axis] = worst_shape(plan, topology, static_cast<Axis>(axis));
  }
  const double sharding = shape_of(model, Axis::shard).ranks;
  model.slowest = slowest_rank(plan, calibration, slowest_gpu(plan, topology));
  model.block_wait = constant(calibration, "block_spread").value * expected_maximum(sharding);
  model.broadcasts = {constant(calibration, "broadcast_ms").value * 1e-3 * sharding};
  return model;
}

const GroupShape& shape_of(const CostModel& model, Axis axis) {
  return model.groups[static_cast<std::size_t>(axis)];
}

}  // namespace stagecraft

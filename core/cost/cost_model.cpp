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
  model.law = kernel_law(plan.gpu, calibration);
  const NodeSpec& node = topology.cluster.node;
  const double sharers = static_cast<double>(std::min<std::int64_t>(topology.gpus_per_node, world_size(plan.degrees)));
  model.law.host_adam_s = plan.run.offload.host_adam_s * sharers;
  model.host_rate = host_rate(topology.wired);
  for (const NodeWiring& variant : topology.variants)
    model.host_rate = std::min(model.host_rate, host_rate(variant.wired));
  const double drives = std::min(node.nvme_read.value, node.nvme_write.value) / std::max(1.0, sharers);
  model.nvme_rate = {std::min(model.host_rate.value, drives)};
  model.tensor = worst_shape(plan, topology, Axis::tensor);
  model.context = worst_shape(plan, topology, Axis::context);
  model.data = worst_shape(plan, topology, Axis::data);
  model.shard = worst_shape(plan, topology, Axis::shard);
  model.replica = worst_shape(plan, topology, Axis::replica);
  model.embedding = worst_shape(plan, topology, Axis::embedding);
  model.slowest = slowest_rank(plan, calibration, slowest_gpu(plan, topology));
  model.block_wait = constant(calibration, "block_spread").value * expected_maximum(model.shard.ranks);
  model.broadcasts = {constant(calibration, "broadcast_ms").value * 1e-3 * model.shard.ranks};
  return model;
}

const GroupShape& shape_of(const CostModel& model, Axis axis) {
  switch (axis) {
    case Axis::tensor:
      return model.tensor;
    case Axis::context:
      return model.context;
    case Axis::shard:
      return model.shard;
    case Axis::replica:
      return model.replica;
    case Axis::embedding:
      return model.embedding;
    case Axis::data:
    case Axis::pipeline:
      break;
  }
  return model.data;
}

}  // namespace stagecraft

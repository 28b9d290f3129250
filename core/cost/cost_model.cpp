#include "cost/cost_model.hpp"

#include <algorithm>
#include <stdexcept>

#include "cost/faulty_groups.hpp"
#include "cost/host_lane.hpp"
#include "cost/straggler.hpp"
#include "topology/host_link.hpp"

namespace stagecraft {
namespace {

/// Of the plan's GPUs on one node.
double sharers_of_node(const Plan& plan, const Topology& topology) {
  return static_cast<double>(std::min<std::int64_t>(topology.gpus_per_node, world_size(plan.degrees)));
}

void set_kind(CostModel& model, const Plan& plan, const Topology& topology, const GpuSpec& gpu,
              const Calibration& calibration) {
  model.gpu = gpu;
  model.calibration = calibration;
  model.law = kernel_law(gpu, calibration, plan.run.cuda_graphs);
  model.law.data_loading_s = plan.run.data_loading_s;
  const double replicas = static_cast<double>(plan.degrees.data);
  const double ranks = static_cast<double>(world_size(plan.degrees)) / replicas;
  model.law.collection_s = plan.run.host.collection_pause_s * expected_collections(plan.run.host, replicas, ranks);
  model.law.host_adam_s = plan.run.offload.host_adam_s * sharers_of_node(plan, topology);
}

/// The drives of the kind of node that has the slowest.
double drives_of(const ClusterSpec& cluster) {
  double rate = 0;
  for (std::size_t kind = 0; kind < kind_count(cluster); ++kind) {
    const NodeSpec& node = node_of_kind(cluster, kind);
    const double here = std::min(node.nvme_read.value, node.nvme_write.value);
    rate = kind == 0 ? here : std::min(rate, here);
  }
  return rate;
}

}  // namespace

CostModel make_cost_model(const Plan& plan, const Topology& topology, const Calibration& calibration) {
  if (calibration.other_kinds.size() != topology.cluster.other_nodes.size()) {
    throw std::invalid_argument("a calibration for every kind of node: calibration_of loads them");
  }
  CostModel model;
  set_kind(model, plan, topology, plan.gpu, calibration);
  const double sharers = sharers_of_node(plan, topology);
  HostRate host = host_rate(topology.wired, static_cast<std::int64_t>(sharers));
  for (const NodeWiring& variant : topology.variants) {
    const HostRate faulty = host_rate(variant.wired, static_cast<std::int64_t>(sharers));
    host = {std::min(host.alone, faulty.alone), std::min(host.shared, faulty.shared)};
  }
  model.host = {host.alone, host.shared};
  // Drives are shared by all GPUs all the time: they are no link of the topology on which copies could meet.
  const double drives = drives_of(topology.cluster) / std::max(1.0, sharers);
  model.nvme = {{std::min(host.alone.value, drives)}, {std::min(host.shared.value, drives)}};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    GroupShape& shape = model.groups[axis];
    shape = worst_shape(plan, topology, static_cast<Axis>(axis));
    if (shape.nodes < 2) continue;
    const bool known = axis > static_cast<std::size_t>(Axis::data) && has_data_groups(plan, static_cast<Axis>(axis));
    share_fabric(
        known ? shape_of(model, Axis::data).fabric_shared : share_of_all(plan, topology, static_cast<Axis>(axis)),
        shape);
  }
  const double sharding = shape_of(model, Axis::shard).ranks;
  model.slowest = slowest_rank(plan, calibration, slowest_gpu(plan, topology));
  model.block_wait = constant(calibration, "block_spread").value * expected_maximum(sharding);
  model.broadcasts = {constant(calibration, "broadcast_ms").value * 1e-3 * sharding};
  for (std::size_t i = 0; i < topology.cluster.other_nodes.size(); ++i) {
    CostModel other = model;
    other.other_kinds.clear();
    set_kind(other, plan, topology, topology.cluster.other_nodes[i].gpu, calibration.other_kinds[i]);
    model.other_kinds.push_back(std::move(other));
  }
  return model;
}

const GroupShape& shape_of(const CostModel& model, Axis axis) {
  return model.groups[static_cast<std::size_t>(axis)];
}

}  // namespace stagecraft

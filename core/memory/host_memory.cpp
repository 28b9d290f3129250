#include "memory/host_memory.hpp"

#include <algorithm>

namespace stagecraft {
namespace {

/// Micro-batches of all stages of a rank that are between F and B, at most at once.
double most_alive(const std::vector<Op>& program) {
  double alive = 0, most = 0;
  for (const Op& op : program) {
    if (op.kind == OpKind::forward) most = std::max(most, ++alive);
    if (op.kind == OpKind::backward || op.kind == OpKind::input_grad) --alive;
  }
  return most;
}

}  // namespace

HostMemory host_memory(const Plan& plan, const Schedule& schedule, const NodeSpec& node) {
  HostMemory memory;
  memory.host_limit = node.host_memory;
  memory.nvme_limit = node.nvme;
  const std::vector<StageMemory> stages = stage_memories(plan);
  std::vector<Bytes> host(schedule.programs.size()), nvme(schedule.programs.size());
  std::vector<Bytes> activation(schedule.programs.size());
  for (const StageMap& map : schedule.placement) {
    for (std::size_t s = 0; s < map.size(); ++s) {
      host[map[s].index()] += stages[s].host;
      nvme[map[s].index()] += stages[s].nvme;
      activation[map[s].index()] = std::max(activation[map[s].index()], stages[s].offloaded_per_micro_batch);
    }
  }
  for (std::size_t r = 0; r < host.size(); ++r) {
    const Bytes alive = activation[r] * most_alive(schedule.programs[r]);
    (plan.run.offload.activations == Home::nvme ? nvme : host)[r] += alive;
  }
  // Ranks fill nodes in order, so a node holds neighbours of one pipeline rank unless that has fewer ranks than the
  // node has GPUs.
  const std::int64_t gpus = std::max<std::int64_t>(1, gpus_per_node(node));
  const std::int64_t per_rank = world_size(plan.degrees) / plan.degrees.pipeline;
  const std::int64_t nodes = (world_size(plan.degrees) + gpus - 1) / gpus;
  for (std::int64_t n = 0; n < nodes; ++n) {
    Bytes on_host, on_nvme;
    for (std::int64_t gpu = n * gpus; gpu < std::min((n + 1) * gpus, world_size(plan.degrees)); ++gpu) {
      on_host += host[static_cast<std::size_t>(gpu / per_rank)];
      on_nvme += nvme[static_cast<std::size_t>(gpu / per_rank)];
    }
    memory.host = std::max(memory.host, on_host);
    memory.nvme = std::max(memory.nvme, on_nvme);
  }
  return memory;
}

HostMemory host_memory(const Plan& plan, const Schedule& schedule, const ClusterSpec& cluster) {
  HostMemory memory = host_memory(plan, schedule, cluster.node);
  for (const OtherNodes& other : cluster.other_nodes) {
    memory.host_limit = std::min(memory.host_limit, other.node.host_memory);
    memory.nvme_limit = std::min(memory.nvme_limit, other.node.nvme);
  }
  return memory;
}

}  // namespace stagecraft

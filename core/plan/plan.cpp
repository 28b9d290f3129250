#include "plan/plan.hpp"

#include <cassert>

#include "plan/expert_load.hpp"
#include "plan/placement.hpp"

namespace stagecraft {

std::int64_t ulysses_degree(const ParallelSpec& parallel) {
  switch (parallel.context_method) {
    case ContextMethod::ulysses:
      return parallel.context;
    case ContextMethod::combined:
      return parallel.ulysses;
    case ContextMethod::ring:
    case ContextMethod::all_gather:
      break;
  }
  return 1;
}

namespace {

std::vector<OtherGpus> other_gpus(const ClusterSpec& cluster) {
  const std::int64_t per_node = gpus_per_node(cluster.node);
  std::vector<OtherGpus> found;
  for (std::size_t kind = 1; kind < kind_count(cluster); ++kind) {
    found.push_back({GpuId(static_cast<std::int32_t>(first_node_of(cluster, kind) * per_node)),
                     cluster.other_nodes[kind - 1].count * per_node, gpu_of_kind(cluster, kind)});
  }
  return found;
}

}  // namespace

Plan make_plan(const Scenario& scenario) {
  assert(!has_errors(check_layout(scenario)));
  const ParallelSpec& parallel = scenario.run.parallel;
  Plan plan;
  plan.model = scenario.model;
  plan.run = scenario.run;
  plan.gpu = scenario.cluster.gpu;
  plan.other_gpus = other_gpus(scenario.cluster);
  plan.degrees = {static_cast<std::int32_t>(parallel.tensor), static_cast<std::int32_t>(parallel.context),
                  static_cast<std::int32_t>(parallel.data), static_cast<std::int32_t>(parallel.pipeline)};
  plan.degrees.shard = static_cast<std::int32_t>(scenario.run.sharding.group);
  plan.degrees.secondary = static_cast<std::int32_t>(scenario.run.sharding.secondary);
  plan.degrees.expert = static_cast<std::int32_t>(parallel.expert);
  plan.degrees.expert_tensor = static_cast<std::int32_t>(parallel.expert_tensor);
  plan.degrees.ulysses = static_cast<std::int32_t>(ulysses_degree(parallel));
  plan.micro_batches =
      static_cast<std::int32_t>(scenario.run.batch.global / (scenario.run.batch.micro * parallel.data));
  plan.layers = layers_of(scenario.model);
  plan.stages = partition_layers(scenario.model, scenario.run);
  plan.busiest_expert_rank = busiest_expert_rank(plan);
  plan.gpus = placed(plan.degrees, parallel.placement, gpus_per_node(scenario.cluster.node));
  return plan;
}

GpuId gpu_of(const Plan& plan, Rank rank) {
  return plan.gpus.empty() ? GpuId(rank.value) : plan.gpus[rank.index()];
}

const GpuSpec& gpu_spec_of(const Plan& plan, Rank rank) {
  const GpuId gpu = gpu_of(plan, rank);
  for (const OtherGpus& other : plan.other_gpus) {
    if (gpu >= other.first && gpu.value < other.first.value + other.count) return other.gpu;
  }
  return plan.gpu;
}

const GpuSpec& smallest_gpu(const Plan& plan, PipelineRank at) {
  const GpuSpec* smallest = &gpu_spec_of(plan, representative(plan, at));
  if (plan.other_gpus.empty()) return *smallest;
  const auto usable = [](const GpuSpec& gpu) { return gpu.memory_usable.value > 0 ? gpu.memory_usable : gpu.memory; };
  const auto inner = static_cast<std::int32_t>(world_size(plan.degrees) / plan.degrees.pipeline);
  for (std::int32_t place = 0; place < inner; ++place) {
    const GpuSpec& gpu = gpu_spec_of(plan, Rank(at.value * inner + place));
    if (usable(gpu) < usable(*smallest)) smallest = &gpu;
  }
  return *smallest;
}

double mean_peak(const Plan& plan, Dtype dtype) {
  if (plan.other_gpus.empty()) return plan.gpu.peak.at(dtype).value;
  const auto ranks = static_cast<std::int32_t>(world_size(plan.degrees));
  double sum = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) sum += gpu_spec_of(plan, Rank(rank)).peak.at(dtype).value;
  return sum / ranks;
}

std::int64_t encoder_length(const Plan& plan) {
  return plan.model.encoder_sequence_length > 0 ? plan.model.encoder_sequence_length : plan.run.sequence_length;
}

std::int64_t padded_vocabulary(const Plan& plan) {
  return padded_vocabulary(plan.model.vocabulary, plan.degrees.tensor);
}

Rank representative(const Plan& plan, PipelineRank at) {
  return rank_at(plan.degrees, Coordinates{0, 0, 0, at.value});
}

}  // namespace stagecraft

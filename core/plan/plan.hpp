#pragma once
// Who holds what: layers -> stages, ranks -> GPUs, and the sizes that follow. Built from a scenario whose
// layout has no errors.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/findings.hpp"
#include "base/ids.hpp"
#include "plan/feasibility.hpp"
#include "plan/layout.hpp"
#include "plan/partition.hpp"
#include "plan/placement.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// GPUs of nodes of another kind than the cluster's own.
struct OtherGpus {
  GpuId first;
  std::int64_t count = 0;
  GpuSpec gpu;
};

struct Plan {
  ModelSpec model;
  RunSpec run;
  GpuSpec gpu;                        // of the cluster's own nodes
  std::vector<OtherGpus> other_gpus;  // ascending
  Degrees degrees;
  std::int32_t micro_batches = 1;   // m, per data rank and step
  std::vector<Layer> layers;        // layers_of(model)
  std::vector<StageLayers> stages;  // pipeline * virtual_stages entries, every layer exactly once
  double busiest_expert_rank = 1;   // rows of the busiest rank of an expert group over the even share (expert_load.hpp)
  std::vector<GpuId> gpus;          // [rank]; empty: rank r runs on GPU r of the cluster (plan/placement.hpp)
};

/// Precondition: !has_errors(check_layout(scenario)).
Plan make_plan(const Scenario& scenario);

/// Ranks of a context group that exchange heads: all of it, the stated part, or one.
std::int64_t ulysses_degree(const ParallelSpec& parallel);

GpuId gpu_of(const Plan& plan, Rank rank);

/// What the rank computes on.
const GpuSpec& gpu_spec_of(const Plan& plan, Rank rank);

/// Of the GPUs that hold a pipeline rank's stages, the one with the least usable memory.
const GpuSpec& smallest_gpu(const Plan& plan, PipelineRank at);

/// Peak rate of one GPU of the job, the mean over all ranks. FLOP/s.
double mean_peak(const Plan& plan, Dtype dtype);

/// Tokens of the sequence that an encoder sees.
std::int64_t encoder_length(const Plan& plan);

/// Rows of the embedding and head matrices once padded for the tensor degree (plan/feasibility.hpp, padded_vocabulary).
std::int64_t padded_vocabulary(const Plan& plan);

/// The representative rank of a pipeline rank: tensor, context and data coordinate 0.
Rank representative(const Plan& plan, PipelineRank at);

}  // namespace stagecraft

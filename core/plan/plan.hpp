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

struct Plan {
  ModelSpec model;
  RunSpec run;
  GpuSpec gpu;
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

/// Tokens of the sequence that an encoder sees.
std::int64_t encoder_length(const Plan& plan);

/// Rows of the embedding and head matrices once padded for the tensor degree (plan/feasibility.hpp, padded_vocabulary).
std::int64_t padded_vocabulary(const Plan& plan);

/// The representative rank of a pipeline rank: tensor, context and data coordinate 0.
Rank representative(const Plan& plan, PipelineRank at);

}  // namespace stagecraft

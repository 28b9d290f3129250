#pragma once
// What the schedules without a flush promise: the rate of their steady state, how old the weights are that a
// micro-batch uses, and how many versions of them a rank keeps. PipeDream: arXiv 1806.03377, section 3 (weight
// stashing); PipeDream-2BW: arXiv 2006.09503, section 3.1.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "schedule/stage_times.hpp"

namespace stagecraft {

/// Versions of its weights that a rank keeps, the newest included: p-r under `stashed`, 2 under `double_buffered`,
/// else 1.
std::int32_t weight_versions(WeightPolicy policy, const PipelineShape& shape, PipelineRank rank);

/// The number of updates that the weights have seen which micro-batch i of the stream (counted on over all batches)
/// uses on a rank: max(0, i-(p-1-r)) under `stashed`, max(0, i div m - 1) under `double_buffered`.
std::int64_t weight_version(WeightPolicy policy, const PipelineShape& shape, PipelineRank rank,
                            std::int64_t micro_batch);

/// Updates made between the weights that a gradient was computed with and the weights it is applied to, in the steady
/// state: p-1-r under `stashed`, 1 under `double_buffered`.
std::int32_t staleness(WeightPolicy policy, const PipelineShape& shape, PipelineRank rank);

/// Seconds (or whatever `times` counts in) from one micro-batch to the next once the pipeline is full, for 1F1B without
/// a flush: the largest over runs of neighbouring ranks of their mean F + I + W, plus 2 send (n-1)/n for a run of n,
/// since the gradient of the micro-batch must come back before the rank can go on.
double steady_period(const PipelineShape& shape, const StageTimes& times);

}  // namespace stagecraft

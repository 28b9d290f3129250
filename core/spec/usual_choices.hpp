#pragma once
// Settings that depend on the layout unless the user names them. Whoever changes the layout of a run chooses them
// again.

#include "spec/cluster_spec.hpp"
#include "spec/model_spec.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// Blocks without a pipeline, whole stages with one.
ShardUnit usual_shard_unit(const ModelSpec& model, const ParallelSpec& parallel);

/// DistributedDataParallel and fully sharded data parallelism reduce gradients behind the backward pass; the others
/// only when told.
bool usually_overlaps_reduce(Framework framework, const ParallelSpec& parallel);

/// Fully sharded data parallelism gathers ahead; the others only when told.
bool usually_overlaps_gather(Framework framework, const ParallelSpec& parallel, std::int64_t zero_stage);

/// Flash attention of the GPU's generation; before Ampere a fused softmax; neither on a CPU, nor in fp32 or tf32, which
/// none of these kernels computes in.
AttentionKernel usual_attention_kernel(const GpuSpec& gpu, Precision precision);

/// overlap.slowdown where exchanges of experts run beside kernels: of the GPU's multiprocessors an all-to-all of NCCL
/// holds 24 and a deduplicated dispatch 16 (HybridEP, unless told otherwise), and kernels have the others. 0 without
/// overlap.expert or where experts are not spread, or if the GPU's multiprocessors are not known.
double usual_slowdown(const RunSpec& run, const GpuSpec& gpu);

/// Sets what run.left_to_layout leaves to the layout.
void choose_by_layout(const ModelSpec& model, const GpuSpec& gpu, RunSpec& run);

}  // namespace stagecraft

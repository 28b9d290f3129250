#pragma once
// The schedules of the family, one pure function and one file each. All emit compute operations only. p ranks, m
// micro-batches, v chunks per rank, r the rank; F forward, B full backward, I and W its halves (input and weight
// gradient). Preconditions: the entry of schedule/family.hpp refuses nothing for the same request.

#include "schedule/schedule.hpp"
#include "schedule/stage_times.hpp"

namespace stagecraft {

/// In which order backwards over all micro-batches run.
enum class BackwardOrder : std::uint8_t { ascending, descending };

/// One rank works at a time: F(i) through all ranks, then B(i) back, for each micro-batch in turn.
Schedule generate_naive(const PipelineShape& shape);

/// All forwards, then all backwards (GPipe, arXiv 1811.06965, section 2.3). The figure of the paper runs them
/// descending, PyTorch ascending; time and memory are the same.
Schedule generate_gpipe(const PipelineShape& shape, BackwardOrder order);

/// min(m, p-r) warm-up forwards, then one backward and one forward in turn (PipeDream-Flush, arXiv 2006.09503; DAPPLE;
/// arXiv 2104.04473, section 2.2). All ranks but the last keep `run_ahead` micro-batches more in flight, so that a rank
/// need not wait for the gradient of the one it has just sent; at most p.
Schedule generate_1f1b(const PipelineShape& shape, std::int32_t run_ahead = 0);

/// The same with min(m, 2(p-r)-1) warm-up forwards, so that transfers hide behind compute (arXiv 2211.05322).
Schedule generate_eager_1f1b(const PipelineShape& shape);

/// v chunks per rank, micro-batches in groups of g (arXiv 2104.04473, section 2.2; Megatron-LM's
/// microbatch_group_size_per_vp_stage).
Schedule generate_interleaved_1f1b(const PipelineShape& shape, std::int32_t group_size);

/// The group that PyTorch's ScheduleInterleaved1F1B takes: m / max(1, m div p), which is p if p divides m; 0 if it is
/// not whole.
std::int32_t usual_group_size(const PipelineShape& shape);

/// Chunk after chunk over all micro-batches, forward and back: looped breadth-first (arXiv 2211.05953). PyTorch's
/// ScheduleLoopedBFS runs the backwards descending.
Schedule generate_looped_bfs(const PipelineShape& shape, BackwardOrder order);

/// Handcrafted, with the memory of 1F1B: r weight gradients lag behind on rank r (arXiv 2401.10241, section 2.1).
Schedule generate_zb_h1(const PipelineShape& shape);

/// Handcrafted, 2(p-r)-1 warm-up forwards: the ranks work without a gap (arXiv 2401.10241, section 2.2; rebuilt from
/// the memory and bubble that the paper states, not copied from its figure).
Schedule generate_zb_h2(const PipelineShape& shape);

/// ZB-H1 over v chunks per rank (PyTorch's ScheduleInterleavedZeroBubble).
Schedule generate_interleaved_zb(const PipelineShape& shape, std::int32_t group_size);

/// V placement, fixed order (arXiv 2401.10241, appendix; PyTorch's ScheduleZBVZeroBubble). Fewer than 2p-1
/// micro-batches: the order for 2p-1 without the surplus.
Schedule generate_zbv(const PipelineShape& shape);

/// DeepSeek-V3's bidirectional schedule: two replicas of the model, pairs of a forward and a backward that overlap
/// (arXiv 2412.19437, section 3.2.1; deepseek-ai/DualPipe). Replica 0 runs micro-batches 0 .. m/2-1, replica 1 the
/// others.
Schedule generate_dualpipe(const PipelineShape& shape);

/// The same on one model in V placement (deepseek-ai/DualPipe, dualpipev.py; PyTorch's ScheduleDualPipeV).
Schedule generate_dualpipev(const PipelineShape& shape);

/// One pair of pipelines in opposite directions, units of p micro-batches directly concatenated (arXiv 2107.06925,
/// section 3).
Schedule generate_chimera(const PipelineShape& shape);

/// Zigzag placement with two chunks per wave (arXiv 2308.15762): list scheduling of equal passes with at most p
/// micro-batches in flight; meets the paper's memory and bubble, its authors' lists were not available to compare with.
Schedule generate_hanayo(const PipelineShape& shape);

/// 1F1B without a flush: an update after every backward, the weights of each forward stashed for its backward (arXiv
/// 1806.03377; SOSP 2019, section 3). See schedule/asynchronous.hpp.
Schedule generate_pipedream(const PipelineShape& shape);

/// 1F1B without a flush: one update per m micro-batches, two weight versions (arXiv 2006.09503, section 3.1).
Schedule generate_pipedream_2bw(const PipelineShape& shape);

/// What V-half and V-min keep alive: p/2 + 1 and p/3 + 4/3 micro-batches at most.
enum class VShapedMemory : std::uint8_t { half, least };

/// V placement with a controlled memory (arXiv 2405.15362; sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py).
Schedule generate_v_shaped(const PipelineShape& shape, VShapedMemory memory);

/// The same building blocks in the orders of AMD-AGI/Primus (zbv_greedy.py), which differ from the authors'.
Schedule generate_v_shaped_primus(const PipelineShape& shape, VShapedMemory memory);

/// V placement with full backwards and about two thirds of the memory of 1F1B (the same repository, v1f1b.py).
Schedule generate_1f1b_v(const PipelineShape& shape);

/// What a search may keep alive on a rank, in whole numbers so that sums are exact.
struct ActivationLimit {
  static constexpr std::int64_t whole = std::int64_t{1} << 20;  // what a forward of one chunk leaves behind
  std::int64_t most = whole;                                    // alive at once
  std::int64_t kept = whole;                                    // of one forward, what its I does not free but its W
  std::int64_t freed_by_input_grad() const { return whole - kept; }
};

/// `chunks_alive` is in forwards of one chunk, `kept_until_weight_grad` a share of one between 0 and 1.
ActivationLimit activation_limit(double chunks_alive, double kept_until_weight_grad);

/// Search under a memory limit (arXiv 2401.10241, section 3; sail-sg/zero-bubble-pipeline-parallelism, zb.py). Limits
/// of p and 2p micro-batches are the paper's ZB-1p and ZB-2p; at least 1.
Schedule generate_zb_auto(const PipelineShape& shape, const StageTimes& times, const ActivationLimit& limit);

/// The search for V placement (the same repository, zbv.py). A limit of 2p chunks is the memory of 1F1B; at least that.
Schedule generate_zbv_auto(const PipelineShape& shape, const StageTimes& times, const ActivationLimit& limit);

}  // namespace stagecraft

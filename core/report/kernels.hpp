#pragma once
// The kernels and collectives inside the operations of one pipeline rank: where the time of a pass goes.

#include <string>
#include <vector>

#include "cost/rank_costs.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// The calls of one name in the passes of one kind, added up over a step of one GPU.
struct KernelLine {
  OpKind pass = OpKind::forward;
  Segment segment;    // the first of them
  bool alike = true;  // all have its shape, or its bytes
  double calls = 0;
  Seconds time;  // of a collective, what no kernel hides; of a kernel with its waits for the host and for slow ranks
  Flops flops;   // executed
  Bytes bytes;   // read and written at best; of a collective as nccl-tests counts them (schedule/body.hpp)
};

/// Of pipeline rank `rank`: passes in the order of OpKind, in each the longest first. The times add up to those of the
/// rank's compute operations. `schedule` is lowered and has bodies, `times` are theirs.
std::vector<KernelLine> kernel_lines(const Schedule& schedule, const RankTimes& times, PipelineRank rank);

/// The rank whose operations take longest, the first of equals.
PipelineRank busiest_rank(const Schedule& schedule, const RankTimes& times);

/// The lines as a table: calls, time of one, time and share of all, the rate they reach beside the GPU's peak.
std::string explain_kernels(const Plan& plan, const Schedule& schedule, const RankTimes& times, PipelineRank rank);

/// The same with one row per line, in seconds, FLOPs and bytes; shapes are empty where the calls differ in shape.
std::string kernels_csv(const Plan& plan, const Schedule& schedule, const RankTimes& times, PipelineRank rank);

}  // namespace stagecraft

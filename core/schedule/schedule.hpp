#pragma once
// The schedule object: per pipeline rank an ordered program, and the stage -> rank map. The simulator times it, the
// executor runs it, the checker proves it.

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/body.hpp"
#include "schedule/op.hpp"

namespace stagecraft {

/// What generators need; no model.
struct PipelineShape {
  std::int32_t ranks = 1;          // p
  std::int32_t micro_batches = 1;  // m
  std::int32_t chunks = 1;         // v, virtual stages per rank
};

/// Order of one replica's stages on ranks. [stage] -> rank.
using StageMap = std::vector<PipelineRank>;

/// One point-to-point FIFO. The coarsest grouping on which no known schedule deadlocks.
struct Channel {
  PipelineRank from, to;
  bool gradient = false;
  std::int32_t tag = -1;  // >= 0 only in the fallback of one channel per message tag
};

enum class OptimizerSync : std::uint8_t { barrier, post_validation, none };

/// Which weights a micro-batch runs with.
enum class WeightPolicy : std::uint8_t {
  one,              // synchronous: all of a step use the same, one update at its end
  stashed,          // PipeDream: an update per micro-batch; a backward uses the weights of its forward
  double_buffered,  // PipeDream-2BW: an update per m micro-batches; all of a batch use the weights of one update
                    // earlier
};

struct Schedule {
  std::string name;  // "1f1b", "interleaved-1f1b", ...
  PipelineShape shape;
  std::vector<StageMap> placement;           // one per replica (two for bidirectional schedules)
  std::vector<std::vector<Op>> programs;     // [pipeline rank] -> operations in order
  std::vector<Channel> channels;             // once assigned
  Bodies bodies;                             // empty for a schedule without a model
  bool lowered = false;                      // communication operations are present
  bool asynchronous = false;                 // no flush between steps (PipeDream, 2BW)
  WeightPolicy weights = WeightPolicy::one;  // another policy only if asynchronous, see schedule/asynchronous.hpp
  OptimizerSync optimizer_sync = OptimizerSync::barrier;
};

std::int32_t stage_count(const Schedule& schedule);
PipelineRank rank_of(const Schedule& schedule, Stage stage, std::uint8_t replica = 0);

}  // namespace stagecraft

#pragma once
// Times a compute-only schedule in whole ticks, written from the rules alone so that it is evidence of its own: F(s,i)
// after F(s-1,i); I and B after the stage's forward and the next stage's I or B; W after I; a rank runs its list in
// order.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft::test {

struct TickTimes {
  std::int64_t forward = 0, input_grad = 0, weight_grad = 0;  // of one stage
  std::int64_t send = 0;
  std::int64_t pair = -1;  // an overlapped pair as one block; -1: in turn
};

struct Timed {
  bool complete = false;  // false: some operation never became ready
  std::int64_t makespan = 0;
  std::int64_t span = 0;        // largest over ranks of last end - first start
  std::int64_t most_busy = 0;   // of the busiest rank
  std::int64_t least_busy = 0;  // and of the idlest
  std::int64_t messages = 0;
};
Timed time_schedule(const Schedule& schedule, const TickTimes& times);

/// Most chunk activations alive per rank; a backward frees at its end, W or I frees where the backward is split.
std::vector<std::int64_t> peak_chunks(const Schedule& schedule, bool freed_at_weight_grad);

/// Every (stage, micro-batch) runs F once, and B once or I and W once, in that order, on the rank that holds the stage.
bool runs_every_pass_once(const Schedule& schedule);

/// The micro-batches of one copy of a stage in the order in which their weight gradients are added.
std::vector<std::int32_t> accumulation_order(const Schedule& schedule, std::int32_t stage, std::uint8_t replica);

}  // namespace stagecraft::test

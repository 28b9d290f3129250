#pragma once
// The order that DualPipe and DualPipeV share (deepseek-ai/DualPipe, dualpipe.py and dualpipev.py, step).

#include "schedule/schedule.hpp"

namespace stagecraft {

/// One of the two directions that meet on a rank.
struct DualPhase {
  std::int32_t stage = 0;
  std::uint8_t replica = 0;
  std::int32_t first_micro_batch = 0;
};

/// Writes a rank's program. `depth` is how far the outermost rank is from the middle (p/2 for DualPipe, p for
/// DualPipeV), `height` this rank's distance from the outermost, `pairs` how often step 4 repeats; phases[0] runs
/// first.
void write_dual_pipe(std::vector<Op>& program, std::int32_t depth, std::int32_t height, std::int32_t pairs,
                     const DualPhase (&phases)[2]);

}  // namespace stagecraft

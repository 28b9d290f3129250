#include <algorithm>

#include "schedule/dual_pipe.hpp"
#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_dualpipe(const PipelineShape& shape) {
  const std::int32_t p = shape.ranks;
  const std::int32_t half = shape.micro_batches / 2;
  Schedule schedule = empty_schedule("dualpipe", shape, {loop_map(p, 1), upward_map(p)}, 3 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < p; ++r) {
    const std::int32_t height = std::min(r, p - 1 - r);
    const DualPhase down{r, 0, 0};
    const DualPhase up{p - 1 - r, 1, half};
    const bool down_first = r < p / 2;
    write_dual_pipe(schedule.programs[static_cast<std::size_t>(r)], p / 2, height, half - p + height + 1,
                    {down_first ? down : up, down_first ? up : down});
  }
  return schedule;
}

}  // namespace stagecraft

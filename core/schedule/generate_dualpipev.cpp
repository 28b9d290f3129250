#include "schedule/dual_pipe.hpp"
#include "schedule/generators.hpp"
#include "schedule/program.hpp"
#include "schedule/stage_map.hpp"

namespace stagecraft {

Schedule generate_dualpipev(const PipelineShape& shape) {
  const std::int32_t p = shape.ranks;
  Schedule schedule = empty_schedule("dualpipev", shape, {v_map(p)}, 3 * passes_per_rank(shape));
  for (std::int32_t r = 0; r < p; ++r) {
    write_dual_pipe(schedule.programs[static_cast<std::size_t>(r)], p, r, shape.micro_batches - 2 * p + r + 1,
                    {{r, 0, 0}, {2 * p - 1 - r, 0, 0}});
  }
  return schedule;
}

}  // namespace stagecraft

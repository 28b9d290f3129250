#pragma once
// The rows of a trace with their levels of detail.

#include <cstdint>
#include <vector>

#include "trace/level_of_detail.hpp"

namespace stagecraft {

/// One row of slices: a lane of a rank. On the first compute row of a rank idle time is slices too, by its cause, step
/// by step as summarise() finds it: within a step the row adds up to that rank's breakdown.
struct LaneRow {
  std::int32_t rank = 0, node = 0;
  Lane lane = Lane::compute;
  std::uint16_t sub_lane = 0;  // operations that overlap lie on several
  bool segments = false;       // what lies inside the operations of the lane
  SliceRow slices;
};

/// By (node, rank, lane, operations before segments, sub-lane). Precondition: spans ordered by (rank, lane, begin).
std::vector<LaneRow> lane_rows(const Trace& trace, const Predecessors& predecessors);

/// The last operation to end by the end of each step; the first of equals. no_span where nothing has ended.
std::vector<std::uint32_t> last_to_end_of_steps(const Trace& trace);

}  // namespace stagecraft

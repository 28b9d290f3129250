#include "gui/models/trace_area.hpp"

#include <map>

namespace stagecraft::gui {

AreaSums sum_area(const LoadedTrace& loaded, const std::vector<std::uint32_t>& lanes, double begin_s, double end_s) {
  AreaSums sums{begin_s, end_s, {}, {}};
  std::map<std::int32_t, TimeByClass> of_rank;
  const std::int64_t begin = nanoseconds(begin_s), end = nanoseconds(end_s);
  for (const std::uint32_t lane : lanes) {
    const LaneRow& row = loaded.lanes[lane];
    const TimeByClass time = row.slices.between(begin, end);
    TimeByClass& of = of_rank.try_emplace(row.rank, TimeByClass{}).first->second;
    for (std::size_t i = 0; i < slice_class_count; ++i) {
      of[i] += time[i];
      sums.sum[i] += time[i];
    }
  }
  for (const auto& [rank, time] : of_rank) sums.ranks.push_back({rank, time});
  return sums;
}

}  // namespace stagecraft::gui

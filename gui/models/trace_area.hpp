#pragma once
// Sums over a stretch of time: what an area selection shows while the mouse moves.

#include <vector>

#include "gui/models/trace_rows.hpp"

namespace stagecraft::gui {

struct RankTime {
  std::int32_t rank = 0;
  TimeByClass time{};
};

/// Time by class within the stretch, per rank (summed over the lanes given that belong to it) and in total.
struct AreaSums {
  double begin_s = 0, end_s = 0;
  std::vector<RankTime> ranks;
  TimeByClass sum{};
};
AreaSums sum_area(const LoadedTrace& loaded, const std::vector<std::uint32_t>& lanes, double begin_s, double end_s);

}  // namespace stagecraft::gui

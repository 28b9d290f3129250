#include <algorithm>

#include "schedule/check.hpp"

namespace stagecraft {

std::vector<double> peak_activations(const Schedule& schedule) {
  const std::int32_t stages = stage_count(schedule);
  std::vector<double> peaks;
  peaks.reserve(schedule.programs.size());
  for (const auto& program : schedule.programs) {
    std::int64_t alive = 0, peak = 0;
    for (const Op& op : program) {
      if (op.kind == OpKind::forward) peak = std::max(peak, ++alive);
      if (op.kind == OpKind::backward || op.kind == OpKind::weight_grad) --alive;
    }
    // One stage is ranks/stages of a full-depth stage: 1/v with v chunks, 1 for each copy of a bidirectional pipeline.
    peaks.push_back(stages > 0 ? static_cast<double>(peak) * schedule.shape.ranks / stages : 0.0);
  }
  return peaks;
}

}  // namespace stagecraft

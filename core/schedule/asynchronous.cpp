#include "schedule/asynchronous.hpp"

#include <algorithm>

namespace stagecraft {

std::int32_t weight_versions(WeightPolicy policy, const PipelineShape& shape, PipelineRank rank) {
  switch (policy) {
    case WeightPolicy::one:
      return 1;
    case WeightPolicy::stashed:
      return shape.ranks - rank.value;
    case WeightPolicy::double_buffered:
      return 2;
  }
  return 1;
}

std::int64_t weight_version(WeightPolicy policy, const PipelineShape& shape, PipelineRank rank,
                            std::int64_t micro_batch) {
  switch (policy) {
    case WeightPolicy::one:
      return micro_batch / shape.micro_batches;
    case WeightPolicy::stashed:
      return std::max<std::int64_t>(0, micro_batch - (shape.ranks - 1 - rank.value));
    case WeightPolicy::double_buffered:
      return std::max<std::int64_t>(0, micro_batch / shape.micro_batches - 1);
  }
  return 0;
}

std::int32_t staleness(WeightPolicy policy, const PipelineShape& shape, PipelineRank rank) {
  switch (policy) {
    case WeightPolicy::one:
      return 0;
    case WeightPolicy::stashed:
      return shape.ranks - 1 - rank.value;
    case WeightPolicy::double_buffered:
      return 1;
  }
  return 0;
}

double steady_period(const PipelineShape& shape, const StageTimes& times) {
  double period = 0;
  for (std::int32_t first = 0; first < shape.ranks; ++first) {
    double busy = 0;
    for (std::int32_t last = first; last < shape.ranks; ++last) {
      const auto stage = static_cast<std::size_t>(last);
      busy += time_of_stage(times.forward, stage, 1) + time_of_stage(times.input_grad, stage, 1) +
              time_of_stage(times.weight_grad, stage, 1);
      const double ranks = last - first + 1;
      period = std::max(period, (busy + 2 * times.send * (ranks - 1)) / ranks);
    }
  }
  return period;
}

}  // namespace stagecraft

#include "schedule/generators.hpp"
#include "schedule/one_forward_one_backward.hpp"

namespace stagecraft {

namespace {

Schedule without_flush(const char* name, const PipelineShape& shape, WeightPolicy weights) {
  Schedule schedule = one_forward_one_backward(name, shape, [](std::int32_t p, std::int32_t r) { return p - r; });
  schedule.asynchronous = true;
  schedule.weights = weights;
  schedule.optimizer_sync = OptimizerSync::none;
  return schedule;
}

}  // namespace

Schedule generate_pipedream(const PipelineShape& shape) {
  return without_flush("pipedream", shape, WeightPolicy::stashed);
}

Schedule generate_pipedream_2bw(const PipelineShape& shape) {
  return without_flush("pipedream-2bw", shape, WeightPolicy::double_buffered);
}

}  // namespace stagecraft

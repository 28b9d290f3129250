#include "schedule/generators.hpp"
#include "schedule/one_forward_one_backward.hpp"

namespace stagecraft {

Schedule generate_eager_1f1b(const PipelineShape& shape) {
  return one_forward_one_backward("eager-1f1b", shape, [](std::int32_t p, std::int32_t r) { return 2 * (p - r) - 1; });
}

}  // namespace stagecraft

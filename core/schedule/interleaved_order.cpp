#include "schedule/interleaved_order.hpp"

#include <algorithm>

#include "schedule/generators.hpp"
#include "schedule/program.hpp"

namespace stagecraft {

std::vector<ChunkPass> interleaved_order(const PipelineShape& shape, std::int32_t group_size) {
  std::vector<ChunkPass> order;
  order.reserve(passes_per_rank(shape));
  for (std::int32_t first = 0; first < shape.micro_batches; first += group_size) {
    const std::int32_t last = std::min(shape.micro_batches, first + group_size);
    for (std::int32_t chunk = 0; chunk < shape.chunks; ++chunk) {
      for (std::int32_t i = first; i < last; ++i) order.push_back({chunk, i});
    }
  }
  return order;
}

std::int32_t usual_group_size(const PipelineShape& shape) {
  const std::int32_t rounds = std::max(1, shape.micro_batches / shape.ranks);
  return shape.micro_batches % rounds == 0 ? shape.micro_batches / rounds : 0;
}

}  // namespace stagecraft

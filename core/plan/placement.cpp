#include "plan/placement.hpp"

namespace stagecraft {
namespace {

std::int32_t degree_of(const Degrees& degrees, ParallelAxis axis) {
  switch (axis) {
    case ParallelAxis::tensor:
      return degrees.tensor;
    case ParallelAxis::context:
      return degrees.context;
    case ParallelAxis::data:
      return degrees.data;
    case ParallelAxis::pipeline:
      break;
  }
  return degrees.pipeline;
}

std::int32_t coordinate_of(const Coordinates& at, ParallelAxis axis) {
  switch (axis) {
    case ParallelAxis::tensor:
      return at.tensor;
    case ParallelAxis::context:
      return at.context;
    case ParallelAxis::data:
      return at.data;
    case ParallelAxis::pipeline:
      break;
  }
  return at.pipeline;
}

}  // namespace

std::vector<GpuId> placed(const Degrees& degrees, const PlacementSpec& placement, std::int64_t gpus_per_node) {
  std::vector<GpuId> gpus;
  const std::int64_t world = world_size(degrees);
  if (!placement.places.empty()) {
    gpus.reserve(placement.places.size());
    for (const PlacementSpec::Place& place : placement.places) {
      gpus.emplace_back(static_cast<std::int32_t>(place.node * gpus_per_node + place.gpu));
    }
    return gpus;
  }
  bool moved = false;
  gpus.reserve(static_cast<std::size_t>(world));
  for (std::int32_t rank = 0; rank < world; ++rank) {
    const Coordinates at = coordinates_of(degrees, Rank(rank));
    std::int32_t gpu = 0;
    for (std::size_t i = placement.order.size(); i-- > 0;) {
      gpu = gpu * degree_of(degrees, placement.order[i]) + coordinate_of(at, placement.order[i]);
    }
    moved = moved || gpu != rank;
    gpus.emplace_back(gpu);
  }
  if (!moved) gpus.clear();
  return gpus;
}

}  // namespace stagecraft

#include "plan/placement.hpp"

namespace stagecraft {
namespace {

struct Strides {
  std::int32_t tensor = 1, context = 1, data = 1, pipeline = 1;
};

/// How far apart neighbours on each axis lie.
Strides strides_of(const Degrees& degrees, const PlacementSpec& placement) {
  Strides strides;
  std::int32_t stride = 1;
  const auto take = [&](std::int32_t& of_axis, std::int32_t degree) {
    of_axis = stride;
    stride *= degree;
  };
  for (const ParallelAxis axis : placement.order) {
    switch (axis) {
      case ParallelAxis::tensor:
        take(strides.tensor, degrees.tensor);
        break;
      case ParallelAxis::context:
        take(strides.context, degrees.context);
        break;
      case ParallelAxis::data:
        take(strides.data, degrees.data);
        break;
      case ParallelAxis::pipeline:
        take(strides.pipeline, degrees.pipeline);
        break;
    }
  }
  return strides;
}

}  // namespace

std::vector<GpuId> placed(const Degrees& degrees, const PlacementSpec& placement, std::int64_t gpus_per_node) {
  std::vector<GpuId> gpus;
  if (!placement.places.empty()) {
    gpus.reserve(placement.places.size());
    for (const PlacementSpec::Place& place : placement.places) {
      gpus.emplace_back(static_cast<std::int32_t>(place.node * gpus_per_node + place.gpu));
    }
    return gpus;
  }
  if (placement.order == PlacementSpec{}.order) return gpus;
  const Strides strides = strides_of(degrees, placement);
  gpus.reserve(static_cast<std::size_t>(world_size(degrees)));
  bool moved = false;
  for (std::int32_t pipeline = 0; pipeline < degrees.pipeline; ++pipeline) {
    for (std::int32_t data = 0; data < degrees.data; ++data) {
      for (std::int32_t context = 0; context < degrees.context; ++context) {
        const std::int32_t first = pipeline * strides.pipeline + data * strides.data + context * strides.context;
        for (std::int32_t tensor = 0; tensor < degrees.tensor; ++tensor) {
          const std::int32_t gpu = first + tensor * strides.tensor;
          moved = moved || gpu != static_cast<std::int32_t>(gpus.size());
          gpus.emplace_back(gpu);
        }
      }
    }
  }
  if (!moved) gpus.clear();
  return gpus;
}

}  // namespace stagecraft

#pragma once
// Layers -> stages: contiguous cuts, every layer exactly once. The embedding belongs to the first stage, head and loss
// to the last, and each is a layer of its own.

#include <cstdint>
#include <span>
#include <vector>

#include "spec/model_spec.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// The layers of one stage, contiguous in layers_of(model).
struct StageLayers {
  std::int32_t first = 0, last = 0;  // [first, last)
};

/// Cuts the layer list into pipeline * virtual_stages stages by the run's partition rule: equal numbers of blocks,
/// equal parameters held (a tied head counts the embedding matrix that its stage holds a copy of), or the user's list.
/// Precondition: check_feasible found no error.
std::vector<StageLayers> partition_layers(const ModelSpec& model, const RunSpec& run);

/// Cuts `weights` into `parts` contiguous non-empty parts so that the largest sum is as small as possible; among such
/// cuts each part ends as near as possible to an equal share of what is left. Returns the end of every part. Weights
/// are rounded to whole numbers >= 0; their sum must stay below 2^62. Precondition: 1 <= parts <= weights.size().
std::vector<std::int32_t> balanced_cuts(std::span<const double> weights, std::int32_t parts);

}  // namespace stagecraft

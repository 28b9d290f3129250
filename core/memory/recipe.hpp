#pragma once
// Model states in bytes: the recipe's table (spec/recipe.hpp), divided as a ZeRO stage divides it.

#include <cstdint>

#include "base/units.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {

/// Model states of `parameters` parameters on one rank.
struct ModelStates {
  Bytes parameters, gradients, optimizer;  // optimizer: master copies and moments
};

/// What an optimizer keeps of `parameters` parameters, as far as that follows from their number: adafactor's sums and
/// the small tensors of adam_8bit follow from shapes (memory/parameters.hpp).
double optimizer_bytes_per_parameter(const RecipeBytes& recipe, const OptimizerStates& optimizer);

/// ZeRO stage 1 divides the optimizer states by the ranks that share them, stage 2 the gradients too, stage 3 the
/// parameters too (arXiv 1910.02054, section 5). Padding of flat buffers is not counted. Precondition: 0 <= zero_stage
/// <= 3, ranks >= 1.
ModelStates model_states(const RecipeBytes& recipe, const OptimizerStates& optimizer, double parameters,
                         std::int64_t zero_stage, double ranks);

}  // namespace stagecraft

#pragma once
// Model states: how many bytes a parameter costs as weight, gradient and optimizer state, and which of these a ZeRO
// stage shards over the data group.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// Bytes per parameter of a named recipe, unsharded.
struct PrecisionRecipe {
  const char* name;
  double parameter = 2, gradient = 2, optimizer = 12;  // optimizer: master copy and moments
  const char* what;                                    // which tensors these are
  const char* source;                                  // paper and section, or document
};

/// The table of all recipes.
std::span<const PrecisionRecipe> precision_recipes();

/// Null if there is none of that name.
const PrecisionRecipe* find_recipe(std::string_view name);

/// The recipe that a run setting stands for.
const PrecisionRecipe& recipe_of(Precision precision);

/// Model states of `parameters` parameters on one rank.
struct ModelStates {
  Bytes parameters, gradients, optimizer;
};

/// ZeRO stage 1 divides the optimizer states by the ranks that share them, stage 2 the gradients too, stage 3 the
/// parameters too (arXiv 1910.02054, section 5). Padding of flat buffers is not counted. Precondition: 0 <= zero_stage
/// <= 3, ranks >= 1.
ModelStates model_states(const PrecisionRecipe& recipe, double parameters, std::int64_t zero_stage, double ranks);

}  // namespace stagecraft

#include "memory/recipe.hpp"

namespace stagecraft {

double optimizer_bytes_per_parameter(const RecipeBytes& recipe, const OptimizerStates& optimizer) {
  return recipe.master + optimizer.moments * recipe.moment + optimizer.fixed_bytes;
}

ModelStates model_states(const RecipeBytes& recipe, const OptimizerStates& optimizer, double parameters,
                         std::int64_t zero_stage, double ranks) {
  const auto share = [&](std::int64_t from_stage) {
    return zero_stage >= from_stage ? parameters / ranks : parameters;
  };
  return {{recipe.weight * share(3)},
          {recipe.gradient * share(2)},
          {optimizer_bytes_per_parameter(recipe, optimizer) * share(1)}};
}

}  // namespace stagecraft

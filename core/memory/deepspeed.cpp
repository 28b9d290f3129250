#include "memory/deepspeed.hpp"

#include <cassert>

#include "memory/recipe.hpp"

namespace stagecraft {

Bytes deepspeed_model_states(int zero_stage, DeepSpeedOffload offload, double parameters, double largest_layer,
                             double gpus) {
  assert(zero_stage == 3 || (zero_stage == 2 && offload != DeepSpeedOffload::optimizer_and_parameters));
  // Weight and gradient in 16 bit; master copy, its gradient and two moments in fp32.
  const RecipeBytes& recipe = bytes_of(StateRecipe::mixed_16bit_and_fp32_gradients);
  const double optimizer = optimizer_bytes_per_parameter(recipe, states_of(Optimizer::adam));
  if (zero_stage == 2) {
    if (offload == DeepSpeedOffload::optimizer) return {recipe.weight * parameters};
    return {(recipe.weight + recipe.gradient) * parameters + optimizer * parameters / gpus};
  }
  const Bytes gathered{(recipe.weight + recipe.gradient) * largest_layer};
  switch (offload) {
    case DeepSpeedOffload::none:
      return gathered + Bytes{(recipe.weight + optimizer) * parameters / gpus};
    case DeepSpeedOffload::optimizer:
      return gathered + Bytes{recipe.weight * parameters / gpus};
    case DeepSpeedOffload::optimizer_and_parameters:
      return gathered;
  }
  return gathered;
}

}  // namespace stagecraft

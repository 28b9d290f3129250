#include "memory/deepspeed.hpp"

#include <cassert>

#include "memory/recipe.hpp"

namespace stagecraft {

Bytes deepspeed_model_states(int zero_stage, DeepSpeedOffload offload, double parameters, double largest_layer,
                             double gpus) {
  assert(zero_stage == 3 || (zero_stage == 2 && offload != DeepSpeedOffload::optimizer_and_parameters));
  // Weight and gradient in 16 bit; master copy, its gradient and two moments in fp32.
  const PrecisionRecipe& recipe = *find_recipe("mixed-16bit-and-fp32-gradients");
  if (zero_stage == 2) {
    if (offload == DeepSpeedOffload::optimizer) return {recipe.parameter * parameters};
    return {(recipe.parameter + recipe.gradient) * parameters + recipe.optimizer * parameters / gpus};
  }
  const Bytes gathered{(recipe.parameter + recipe.gradient) * largest_layer};
  switch (offload) {
    case DeepSpeedOffload::none:
      return gathered + Bytes{(recipe.parameter + recipe.optimizer) * parameters / gpus};
    case DeepSpeedOffload::optimizer:
      return gathered + Bytes{recipe.parameter * parameters / gpus};
    case DeepSpeedOffload::optimizer_and_parameters:
      return gathered;
  }
  return gathered;
}

}  // namespace stagecraft

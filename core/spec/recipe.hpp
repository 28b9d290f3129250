#pragma once
// The bytes that a parameter costs as weight, gradient, master copy and optimizer state: the one table that time and
// memory both read.

#include <span>

#include "spec/run_spec.hpp"

namespace stagecraft {

/// Bytes per parameter of a named recipe, unsharded and without the optimizer's own states.
struct RecipeBytes {
  StateRecipe recipe = StateRecipe::fp32;
  double weight = 4;    // as stored: what ZeRO-3 divides
  double gradient = 4;  // as accumulated and reduced: what ZeRO-2 divides
  double master = 0;    // fp32 copies of weight and gradient that belong to the optimizer: what ZeRO-1 divides
  double moment = 4;    // of one moment of the optimizer
  double compute = 4;   // of the weight as kernels read it: what ZeRO-3 gathers
  const char* what = "";
  const char* source = "";
};

std::span<const RecipeBytes> state_recipes();
const RecipeBytes& bytes_of(StateRecipe recipe);

/// The recipe of a run: the one that it names, else the usual one of its precision and of the format of its gradients.
StateRecipe recipe_of(const RunSpec& run);

/// Bytes of a gradient on its way through a reduction; int8 takes a scale of two bytes for each 2048.
double gradient_wire_bytes(const RunSpec& run);

/// How an optimizer keeps its states.
struct OptimizerStates {
  Optimizer optimizer = Optimizer::adam;
  double moments = 2;       // per parameter, each of RecipeBytes::moment bytes
  double fixed_bytes = 0;   // per parameter, whatever the recipe: quantised states with their scales
  bool factored = false;    // fp32 sums of each row and column of a matrix in place of a moment
  double small_tensor = 0;  // tensors with fewer elements keep fp32 Adam moments
  const char* what = "";
  const char* source = "";
};

std::span<const OptimizerStates> optimizer_states();
const OptimizerStates& states_of(Optimizer optimizer);

}  // namespace stagecraft

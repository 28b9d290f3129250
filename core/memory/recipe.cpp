#include "memory/recipe.hpp"

#include <array>

namespace stagecraft {
namespace {

constexpr const char* megatron_optimizer = "Megatron-LM, docs/source/api-guide/dist_optimizer.md";
constexpr const char* zero_paper = "arXiv 1910.02054, section 3.1";

constexpr std::array<PrecisionRecipe, 6> recipes = {{
    {"fp32", 4, 4, 8, "fp32 weight 4, fp32 gradient 4, Adam moments 4 + 4", megatron_optimizer},
    {"mixed-fp32-gradients", 2, 4, 12,
     "16-bit weight 2, fp32 main gradient 4, fp32 master copy 4, Adam moments 4 + 4: 18, or 6 + 12/d sharded",
     megatron_optimizer},
    {"mixed-16bit-gradients", 2, 2, 12,
     "16-bit weight 2, 16-bit gradient 2, fp32 master copy 4, Adam moments 4 + 4: 16", zero_paper},
    {"mixed-16bit-and-fp32-gradients", 2, 2, 16,
     "16-bit weight 2, 16-bit gradient 2, fp32 copy of the gradient 4, fp32 master copy 4, Adam moments 4 + 4: 20, or "
     "4 + 16/d "
     "sharded",
     megatron_optimizer},
    {"pure-bf16", 2, 2, 4, "bf16 weight 2, bf16 gradient 2, Adam moments in bf16 2 + 2",
     "PyTorch AdamW: moments take the dtype of the parameter"},
    {"fp8-mixed", 2, 4, 12,
     "bf16 weight 2, fp32 main gradient 4, fp32 master copy 4, Adam moments 4 + 4; weights are cast to fp8 before use",
     "Megatron-LM, docs/source/api-guide/dist_optimizer.md; TransformerEngine, fp8_autocast"},
}};

}  // namespace

std::span<const PrecisionRecipe> precision_recipes() {
  return recipes;
}

const PrecisionRecipe* find_recipe(std::string_view name) {
  for (const PrecisionRecipe& recipe : recipes) {
    if (name == recipe.name) return &recipe;
  }
  return nullptr;
}

const PrecisionRecipe& recipe_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return recipes[0];
    case Precision::fp16_mixed:
    case Precision::bf16_mixed:
      return recipes[1];
    case Precision::bf16_pure:
      return recipes[4];
    case Precision::fp8_mixed:
      return recipes[5];
  }
  return recipes[1];
}

ModelStates model_states(const PrecisionRecipe& recipe, double parameters, std::int64_t zero_stage, double ranks) {
  const auto share = [&](std::int64_t from_stage) {
    return zero_stage >= from_stage ? parameters / ranks : parameters;
  };
  return {{recipe.parameter * share(3)}, {recipe.gradient * share(2)}, {recipe.optimizer * share(1)}};
}

}  // namespace stagecraft

#include "spec/recipe.hpp"

#include <array>

namespace stagecraft {
namespace {

constexpr const char* megatron = "Megatron-LM, docs/source/api-guide/dist_optimizer.md";

constexpr std::array<RecipeBytes, 8> recipes = {{
    {StateRecipe::fp32, 4, 4, 0, 4, 4, "fp32 weight 4 and gradient 4", megatron},
    {StateRecipe::fp32_autocast, 4, 4, 0, 4, 2,
     "fp32 weight 4 and gradient 4; kernels read a 16-bit copy that is made, or gathered, for each use",
     "PyTorch, FSDP MixedPrecision(param_dtype=bf16, reduce_dtype=fp32)"},
    {StateRecipe::mixed_fp32_gradients, 2, 4, 4, 4, 2, "16-bit weight 2, fp32 gradient 4, fp32 master copy 4",
     megatron},
    {StateRecipe::mixed_16bit_gradients, 2, 2, 4, 4, 2, "16-bit weight 2 and gradient 2, fp32 master copy 4",
     "arXiv 1910.02054, section 3.1"},
    {StateRecipe::mixed_16bit_and_fp32_gradients, 2, 2, 8, 4, 2,
     "16-bit weight 2 and gradient 2, fp32 copies of both 4 + 4", megatron},
    {StateRecipe::pure_bf16, 2, 2, 0, 2, 2, "bf16 weight 2 and gradient 2, moments in bf16",
     "PyTorch AdamW: moments take the dtype of the parameter"},
    {StateRecipe::fp8_mixed, 2, 4, 4, 4, 2,
     "bf16 weight 2, fp32 gradient 4, fp32 master copy 4; weights are cast to fp8 before use",
     "Megatron-LM, as for bf16; TransformerEngine, fp8_autocast"},
    {StateRecipe::pure_bf16_fp32_gradients, 2, 4, 0, 2, 2, "bf16 weight 2 and fp32 gradient 4, moments in bf16",
     "as pure_bf16, with Megatron-LM's accumulate_allreduce_grads_in_fp32"},
}};

constexpr std::array<OptimizerStates, 5> optimizers = {{
    {Optimizer::adam, 2, 0, false, 0, "two moments", "arXiv 1412.6980"},
    {Optimizer::sgd, 0, 0, false, 0, "no state", "PyTorch, torch/optim/sgd.py"},
    {Optimizer::sgd_momentum, 1, 0, false, 0, "one momentum buffer", "PyTorch, torch/optim/sgd.py"},
    {Optimizer::adafactor, 0, 0, true, 0,
     "fp32 second moments factored into one sum per row and per column of a matrix, whole for vectors; no momentum",
     "arXiv 1804.04235, section 3"},
    {Optimizer::adam_8bit, 0, 2 * (1 + 4.0 / 256), false, 4096,
     "two 8-bit moments with an fp32 scale for each block of 256; tensors below 4096 elements stay in fp32",
     "arXiv 2110.02861; bitsandbytes/optim/optimizer.py (min_8bit_size), functional.py (blocksize 256)"},
}};

}  // namespace

std::span<const RecipeBytes> state_recipes() {
  return recipes;
}

const RecipeBytes& bytes_of(StateRecipe recipe) {
  return recipes[static_cast<std::size_t>(recipe)];
}

StateRecipe recipe_of(const RunSpec& run) {
  if (run.recipe) return *run.recipe;
  switch (run.precision) {
    case Precision::fp32:
    case Precision::tf32:
      return StateRecipe::fp32;
    case Precision::bf16_pure:
      return run.fp32_gradients ? StateRecipe::pure_bf16_fp32_gradients : StateRecipe::pure_bf16;
    case Precision::fp8_mixed:
      if (run.fp32_gradients) return StateRecipe::fp8_mixed;
      break;
    case Precision::fp16_mixed:
    case Precision::bf16_mixed:
      if (run.fp32_gradients) return StateRecipe::mixed_fp32_gradients;
      break;
  }
  return StateRecipe::mixed_16bit_and_fp32_gradients;
}

double gradient_wire_bytes(const RunSpec& run) {
  switch (run.gradient_compression) {
    case GradientCompression::fp32:
      return 4;
    case GradientCompression::fp16:
      return 2;
    case GradientCompression::int8:
      return 1 + 2.0 / 2048;
    case GradientCompression::none:
      break;
  }
  return bytes_of(recipe_of(run)).gradient;
}

std::span<const OptimizerStates> optimizer_states() {
  return optimizers;
}

const OptimizerStates& states_of(Optimizer optimizer) {
  return optimizers[static_cast<std::size_t>(optimizer)];
}

}  // namespace stagecraft

#pragma once
// How the training software handles memory where frameworks differ and a scenario does not say.

#include <cstdint>

#include "memory/recipe.hpp"

namespace stagecraft {

/// Where the weight gradient of a matrix goes before the optimizer sees it.
enum class WeightGradient : std::uint8_t {
  accumulated,  // the GEMM adds into the main gradient (Megatron-LM, gradient_accumulation_fusion): nothing more exists
  temporary,    // a tensor in the compute dtype lives from the GEMM to its addition
  cached,       // added by the GEMM, while autograd is handed an unused tensor of the same shape, one per shape for the
                // blocks and kept (TransformerEngine, module/base.py, get_dummy_wgrad), a new one for the head
};

struct MemoryOptions {
  const PrecisionRecipe* recipe = nullptr;  // null: the one that the run's precision stands for
  WeightGradient weight_gradient = WeightGradient::accumulated;
};

}  // namespace stagecraft

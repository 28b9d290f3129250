#pragma once
// Weight gradients that exist as tensors beside the main gradients.

#include <vector>

#include "memory/framework.hpp"
#include "memory/local_shape.hpp"
#include "memory/parameters.hpp"

namespace stagecraft {

struct WeightGradientBytes {
  Bytes of_block;      // the largest of a block's matrices, while B runs
  Bytes of_head;       // the head's
  Bytes of_embedding;  // dense, in the compute dtype
  Bytes cached;        // kept all step long, whatever the number of blocks
};

/// `block` are the parameter tensors of a transformer block.
WeightGradientBytes weight_gradients(const LocalShape& shape, const std::vector<ParameterTensor>& block,
                                     WeightGradient kind);

}  // namespace stagecraft

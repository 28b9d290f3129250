#include "memory/weight_gradients.hpp"

#include <algorithm>

namespace stagecraft {

WeightGradientBytes weight_gradients(const LocalShape& shape, const std::vector<ParameterTensor>& block,
                                     WeightGradient kind) {
  WeightGradientBytes bytes;
  const Bytes vocabulary = bytes_on_rank(shape, shape.vocabulary * shape.hidden, shape.activation, Shard::tensor);
  bytes.of_embedding = vocabulary;
  if (kind == WeightGradient::accumulated) return bytes;
  bytes.of_head = vocabulary;
  for (const ParameterTensor& tensor : block) {
    if (!tensor.matrix) continue;
    const Bytes gradient = bytes_on_rank(shape, tensor.elements, shape.activation, Shard::tensor);
    if (kind == WeightGradient::cached) {
      bytes.cached += gradient;  // the four matrices of a block have four shapes
    } else {
      bytes.of_block = std::max(bytes.of_block, gradient);
    }
  }
  return bytes;
}

}  // namespace stagecraft

#include "memory/weight_gradients.hpp"

#include <algorithm>
#include <cmath>

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
    const double one = tensor.experts > 0 ? tensor.elements * std::ceil(tensor.experts / shape.expert) / tensor.experts
                                          : tensor.elements;
    const Bytes gradient = bytes_on_rank(shape, one, shape.activation, tensor.divided ? Shard::tensor : Shard::whole);
    if (kind == WeightGradient::cached) {
      bytes.cached += gradient;  // the four matrices of a block have four shapes
    } else {
      bytes.of_block = std::max(bytes.of_block, gradient);
    }
  }
  return bytes;
}

}  // namespace stagecraft

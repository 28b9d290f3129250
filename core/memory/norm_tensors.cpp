#include "memory/norm_tensors.hpp"

namespace stagecraft {

void add_unfused_norm(const char* copy, const char* result, const LocalShape& shape, std::vector<SavedTensor>& rows) {
  if (shape.fused || shape.layer_norm || shape.activation == Dtype::fp32) return;
  const double width = shape.tokens * shape.hidden;
  rows.push_back({copy, width / 2, Dtype::fp32, Shard::sequence, Held::forward_to_input_grad, Dropped::by_norms});
  rows.push_back({result, width, shape.activation, Shard::sequence, Held::forward_to_input_grad, Dropped::by_norms});
}

}  // namespace stagecraft

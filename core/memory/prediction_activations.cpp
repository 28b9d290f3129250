// A module of multi-token prediction in front of its block (arXiv 2412.19437, section 2.2): the last hidden state and
// the next token's embedding are normed, put side by side and projected to the width of one.

#include "memory/activations.hpp"

namespace stagecraft {

void add_prediction_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const double width = shape.tokens * shape.hidden;
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  rows.push_back({"prediction hidden state", width, shape.activation, Shard::sequence, to_input_grad, Dropped::never});
  rows.push_back({"prediction embedding", width, shape.activation, Shard::sequence, to_input_grad, Dropped::never});
  rows.push_back({"prediction norm statistics", 2 * shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32,
                  Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back({"prediction projection input", 2 * width, shape.linear_input, Shard::sequence,
                  Held::forward_to_weight_grad, Dropped::by_norms});
  rows.push_back({"prediction projection gradient", width, shape.linear_input, Shard::sequence,
                  Held::input_grad_to_weight_grad, Dropped::by_full});
}

}  // namespace stagecraft

// A block whose MLP is experts (Megatron-LM, core/transformer/moe: router.py, token_dispatcher.py, experts.py with
// grouped GEMMs). Every expert gets its even share of the tokens, those of the
// busiest rank `expert_load` of it.

#include "memory/activations.hpp"

namespace stagecraft {

double routed_tokens(const LocalShape& shape) {
  const double share = shape.tokens * static_cast<double>(shape.moe.top_k);
  // Under sequence parallelism each tensor rank routes its own part and the group gathers them again for the experts,
  // whose matrices are divided over it.
  return share * (shape.moe.capacity_factor > 0 ? shape.moe.capacity_factor : shape.expert_load);
}

void add_moe_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows) {
  const MoeSpec& moe = shape.moe;
  const double width = shape.tokens * shape.hidden;
  const double routed = routed_tokens(shape);
  const double inner = routed * static_cast<double>(moe.ffn_hidden);
  const double up = shape.gated ? 2 * inner : inner;
  const Dtype dtype = shape.activation;
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  constexpr auto to_weight_grad = Held::forward_to_weight_grad;
  constexpr auto from_input_grad = Held::input_grad_to_weight_grad;
  // The ranks that share an expert gather each other's rows.
  const Shard gathered = shape.expert_tensor > 1 ? Shard::whole : Shard::sequence;

  rows.push_back({"mlp norm input", width, dtype, Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back({"mlp norm statistics", shape.tokens * (shape.layer_norm ? 2 : 1), Dtype::fp32, Shard::sequence,
                  to_input_grad, Dropped::by_full});
  rows.push_back({"router input", width, dtype, Shard::sequence, to_weight_grad, Dropped::by_norms});
  rows.push_back({"router probabilities", shape.tokens * static_cast<double>(moe.experts), Dtype::fp32, Shard::sequence,
                  to_input_grad, Dropped::by_full});
  rows.push_back({"routing map", shape.tokens * static_cast<double>(moe.experts), Dtype::int8, Shard::sequence,
                  to_input_grad, Dropped::by_full});
  rows.push_back({"row of each routed token", routed, Dtype::int64, Shard::sequence, to_input_grad, Dropped::by_full});
  rows.push_back(
      {"experts input", routed * shape.hidden, shape.linear_input, gathered, to_weight_grad, Dropped::by_full});
  if (shape.clamp_apart) {
    rows.push_back({"experts clamp input", up, dtype, Shard::tensor, to_input_grad, Dropped::by_mlp});
  }
  rows.push_back({"experts activation input", up, dtype, Shard::tensor, to_input_grad, activation_input_dropped(shape),
                  shape.gated ? 0.5 : 1});
  rows.push_back(
      {"experts down input", inner, shape.linear_input, Shard::tensor, to_weight_grad, Dropped::by_activation});
  if (moe.shared_ffn_hidden > 0) {
    const double shared = shape.tokens * static_cast<double>(moe.shared_ffn_hidden);
    const double both = shape.gated ? 2 * shared : shared;
    if (shape.clamp_apart) {
      rows.push_back({"shared expert clamp input", both, dtype, Shard::tensor, to_input_grad, Dropped::by_mlp});
    }
    rows.push_back({"shared expert activation input", both, dtype, Shard::tensor, to_input_grad,
                    activation_input_dropped(shape), shape.gated ? 0.5 : 1});
    rows.push_back({"shared expert down input", shared, shape.linear_input, Shard::tensor, to_weight_grad,
                    Dropped::by_activation});
    rows.push_back(
        {"shared expert up gradient", both, shape.linear_input, Shard::tensor, from_input_grad, Dropped::by_full});
  }
  if (shape.dropout) {
    rows.push_back({"mlp residual dropout mask", width, Dtype::int8, Shard::sequence, to_input_grad, Dropped::by_full});
  }
  rows.push_back({"experts up gradient", up, shape.linear_input, Shard::tensor, from_input_grad, Dropped::by_full});
  rows.push_back({"experts down gradient", routed * shape.hidden, shape.linear_input, gathered, from_input_grad,
                  Dropped::by_full});
}

}  // namespace stagecraft

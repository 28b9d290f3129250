#include "memory/core_attention_tensors.hpp"

namespace stagecraft {

void add_core_attention_tensors(const LocalShape& shape, const CoreAttention& core, std::vector<SavedTensor>& rows) {
  const double scores = shape.tokens * core.keys * shape.heads;
  const Dtype dtype = shape.activation;
  const auto name = [&](const char* self, const char* cross) { return core.cross ? cross : self; };
  constexpr auto to_input_grad = Held::forward_to_input_grad;
  if (materialises_scores(shape)) {
    const bool fused_softmax = shape.attention_kernel == AttentionKernel::fused_softmax;
    // The unfused softmax runs in fp32 and keeps its own output beside the 16-bit probabilities.
    const Dtype softmax = fused_softmax ? dtype : Dtype::fp32;
    rows.push_back({name("softmax output", "cross-attention softmax output"), scores, softmax, Shard::tensor,
                    to_input_grad, Dropped::by_selective});
    if (shape.dropout) {
      rows.push_back({name("attention dropout mask", "cross-attention dropout mask"), scores, Dtype::int8,
                      Shard::tensor, to_input_grad, Dropped::by_selective});
      rows.push_back({name("attention dropout output", "cross-attention dropout output"), scores, dtype, Shard::tensor,
                      to_input_grad, Dropped::by_selective});
    } else if (softmax != dtype) {
      rows.push_back({name("attention probabilities", "cross-attention probabilities"), scores, dtype, Shard::tensor,
                      to_input_grad, Dropped::by_selective});
    }
  } else {
    rows.push_back({name("attention log-sum-exp", "cross-attention log-sum-exp"), shape.tokens * shape.heads,
                    Dtype::fp32, Shard::tensor, to_input_grad, Dropped::by_selective, 1});
    if (shape.linear_input != dtype) {
      rows.push_back({name("attention output", "cross-attention output"), core.output, dtype, Shard::tensor,
                      to_input_grad, Dropped::by_full, 1});
    }
  }
  rows.push_back({name("projection input", "cross-attention projection input"), core.output, shape.linear_input,
                  Shard::tensor, Held::forward_to_weight_grad, Dropped::by_full, 1});
}

}  // namespace stagecraft

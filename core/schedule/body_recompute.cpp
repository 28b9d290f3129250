// Per-operation recompute keeps what attention and every other matrix product put out, counted in the order query, key,
// value, projection, gate, up, down (torchtitan, distributed/activation_checkpoint.py), and runs the rest again.

#include <string_view>

#include "schedule/body_layers.hpp"

namespace stagecraft {

std::vector<Segment> recomputed_per_op(const std::vector<Segment>& block, const BodyShape& shape, const Plan& plan) {
  std::vector<Segment> again;
  for (const Segment& segment : block) {
    const std::string_view name = segment.name;
    const bool product = !segment.is_collective && segment.kernel.kind == KernelKind::gemm;
    if (!segment.is_collective && segment.kernel.kind == KernelKind::attention) continue;
    if (!product) {
      again.push_back(segment);
    } else if (name == "qkv") {  // the key's product
      again.push_back(gemm(segment.name, shape, shape.tokens, shape.kv_heads * shape.head_dim, shape.hidden));
    } else if (name == "attention-projection") {
      again.push_back(segment);
    } else if (name == "mlp-up" && plan.model.mlp.gated) {  // one of gate and up
      again.push_back(gemm(segment.name, shape, shape.tokens, shape.ffn, shape.hidden));
    } else if (name == "mlp-down" && !plan.model.mlp.gated) {
      again.push_back(segment);
    }
  }
  return again;
}

}  // namespace stagecraft

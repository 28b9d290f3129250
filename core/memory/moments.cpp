#include "memory/moments.hpp"

namespace stagecraft {
namespace {

void consider(Moment& worst, const Moment& candidate) {
  if (candidate.activations + candidate.logits > worst.activations + worst.logits) worst = candidate;
}

/// Logits in the compute dtype, or their gradient. In fp32 the softmax takes their place.
Bytes half_logits(const LocalShape& shape) {
  if (shape.activation == Dtype::fp32) return {};
  return bytes_on_rank(shape, shape.tokens * shape.vocabulary, shape.activation, Shard::tensor);
}

Bytes whole_residual(const LocalShape& shape) {
  return bytes_on_rank(shape, shape.tokens * shape.hidden, shape.activation, Shard::whole);
}

}  // namespace

Moment worst_forward(const LocalShape& shape, const StageParts& parts) {
  Moment worst;
  if (parts.has_loss) consider(worst, {{}, half_logits(shape)});
  if (parts.has_blocks) consider(worst, {parts.block.forward - parts.head_kept, Bytes{} - parts.logits_kept});
  return worst;
}

Moment worst_backward(const LocalShape& shape, const StageParts& parts) {
  Moment worst;
  const Bytes no_logits = Bytes{} - parts.logits_kept;
  if (parts.has_loss) {
    consider(worst, {{}, half_logits(shape)});
    const Bytes gradient = shape.activation == Dtype::fp32
                               ? bytes_on_rank(shape, shape.tokens * shape.vocabulary, Dtype::fp32, Shard::tensor)
                               : half_logits(shape);
    consider(worst, {whole_residual(shape) + parts.head_weight_gradient, no_logits + gradient});
  }
  if (parts.has_blocks) {
    consider(worst, {parts.block.backward + parts.block_weight_gradient - parts.head_kept, no_logits});
  }
  if (parts.has_embedding) {
    consider(worst, {whole_residual(shape) + parts.embedding_weight_gradient - parts.kept, no_logits});
  }
  return worst;
}

}  // namespace stagecraft

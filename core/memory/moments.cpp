#include "memory/moments.hpp"

namespace stagecraft {
namespace {

void consider(Moment& worst, const Moment& candidate) {
  if (candidate.activations + candidate.logits > worst.activations + worst.logits) worst = candidate;
}

Bytes logits_in(const LocalShape& shape, Dtype dtype, Shard shard) {
  return bytes_on_rank(shape, shape.tokens * shape.vocabulary, dtype, shard);
}

/// Logits in the compute dtype, or their gradient.
Bytes half_logits(const LocalShape& shape) {
  return logits_in(shape, shape.activation, Shard::tensor);
}

Bytes whole_residual(const LocalShape& shape) {
  return bytes_on_rank(shape, shape.tokens * shape.hidden, shape.activation, Shard::whole);
}

/// What the loss needs beside what it keeps, forward and backward.
struct LossMoments {
  Bytes forward, backward;
};

LossMoments loss_moments(const LocalShape& shape) {
  // In fp32 the softmax takes the place of the logits.
  const Bytes half = shape.activation == Dtype::fp32 ? Bytes{} : half_logits(shape);
  switch (shape.loss) {
    case LossKernel::vocabulary_parallel:
      return {shape.keeps_fp32_logits ? logits_in(shape, Dtype::fp32, Shard::tensor) : half, half};
    case LossKernel::fused:  // in place
      return {};
    case LossKernel::full_fp32: {
      // The 16-bit logits and their fp32 copy; backward the gradients of loss and of log-softmax, both fp32.
      const Bytes whole = logits_in(shape, Dtype::fp32, Shard::whole);
      return {shape.drops_logits ? half + whole : Bytes{}, whole * 2};
    }
    case LossKernel::chunked:  // one chunk's logits, their fp32 softmax and gradient
      return {(half + logits_in(shape, Dtype::fp32, Shard::tensor) + half) / loss_chunks, {}};
  }
  return {half, half};
}

/// The gradient of the logits while the head's GEMMs read it.
Bytes logits_gradient(const LocalShape& shape) {
  return shape.loss == LossKernel::chunked ? half_logits(shape) / loss_chunks : half_logits(shape);
}

}  // namespace

Moment worst_forward(const LocalShape& shape, const StageParts& parts) {
  Moment worst;
  if (parts.has_loss) consider(worst, {{}, loss_moments(shape).forward});
  if (parts.has_blocks) {
    consider(worst, {parts.block.forward + parts.block_forward - parts.head_kept, Bytes{} - parts.logits_kept});
  }
  return worst;
}

Moment worst_backward(const LocalShape& shape, const StageParts& parts) {
  Moment worst;
  const Bytes no_logits = Bytes{} - parts.logits_kept;
  if (parts.has_loss) {
    consider(worst, {{}, loss_moments(shape).backward});
    consider(worst, {whole_residual(shape) + parts.head_weight_gradient, no_logits + logits_gradient(shape)});
  }
  if (parts.has_blocks) {
    consider(worst, {parts.block.backward + parts.block_weight_gradient + parts.held_head_gradient - parts.head_kept,
                     no_logits});
  }
  if (parts.has_embedding) {
    consider(worst, {whole_residual(shape) + parts.embedding_weight_gradient - parts.kept, no_logits});
  }
  return worst;
}

}  // namespace stagecraft

#pragma once
// The sizes that the tensors of one micro-batch have on one rank, taken from the plan once.

#include "base/units.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

/// How a tensor is divided over the tensor group.
enum class Shard : std::uint8_t {
  whole,     // every rank of the group holds all of it
  tensor,    // divided by heads, inner width or vocabulary
  sequence,  // divided along the sequence if sequence parallelism is on, else whole (arXiv 2205.05198, section 4.2.2)
};

struct LocalShape {
  double tokens = 0;            // of a micro-batch on one context rank: sequence / context * sequences
  double sequence = 0;          // keys that a query sees: the whole sequence
  double samples = 0;           // sequences of a micro-batch
  double encoder_sequence = 0;  // keys of a decoder block's cross-attention; 0: the model has no encoder
  double hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocabulary = 0;  // whole; the vocabulary is padded
  double tensor = 1;                                                                  // ranks of the tensor group
  bool sequence_parallel = false;
  bool gated = false, layer_norm = true, dropout = false, relu = false, fused = true;
  bool fused_gate = true;                       // the product with the gate is part of the activation's kernel
  bool clamp_apart = false;                     // what enters the activation is clamped by kernels of its own
  bool post_norms = false, head_norms = false;  // a second norm behind attention and MLP; norms of queries and keys
  AttentionKernel attention_kernel = AttentionKernel::flash_2;
  AttentionSpec attention;   // of the model: which kind it is
  MoeSpec moe;               // experts > 0: blocks from dense_blocks on have experts
  double expert = 1;         // ranks that the experts are spread over
  double expert_tensor = 1;  // ranks that share one expert
  double expert_load = 1;    // rows that the busiest rank's experts receive, over their even share
  RecomputeModules modules;  // of selective recompute
  LossKernel loss = LossKernel::vocabulary_parallel;
  bool keeps_fp32_logits = false;  // the caller's, beside the softmax (nanotron, models/llama.py)
  bool drops_logits = false;  // before the backward pass (torchtitan); else 16-bit and fp32 logits stay beside the loss
  Dtype activation = Dtype::bf16;    // of the residual stream and of all that is not named otherwise
  Dtype linear_input = Dtype::bf16;  // of what a linear layer keeps of its input for the weight gradient
};

/// Of the decoder's or only sequence, that is of every block but an encoder's.
LocalShape local_shape(const Plan& plan);

/// The same for the blocks of an encoder, whose sequence has a length of its own.
LocalShape encoder_shape_of(const Plan& plan, const LocalShape& shape);

/// What one rank holds of `elements` elements, in whole bytes.
Bytes bytes_on_rank(const LocalShape& shape, double elements, Dtype dtype, Shard shard);

inline bool materialises_scores(const LocalShape& shape) {
  return shape.attention_kernel == AttentionKernel::unfused || shape.attention_kernel == AttentionKernel::fused_softmax;
}

/// Width of the first linear layer's output of an MLP: gate and up projection side by side.
inline double up_width(const LocalShape& shape) {
  return shape.gated ? 2 * shape.ffn : shape.ffn;
}

}  // namespace stagecraft

#pragma once
// What the layers keep for the backward pass: one table per kind of layer, every tensor a row.

#include <cstdint>
#include <vector>

#include "memory/local_shape.hpp"

namespace stagecraft {

/// From when to when a tensor of a micro-batch is alive. Of a fused backward both halves end together.
enum class Held : std::uint8_t {
  forward_to_input_grad,      // freed when I is done
  forward_to_weight_grad,     // the input x of a linear layer: W still multiplies with it
  input_grad_to_weight_grad,  // the output gradient g of a linear layer: made by I, used by W
};

/// What recomputation drops and makes again in the backward pass.
enum class Dropped : std::uint8_t {
  never,
  by_full,        // full recompute keeps the block's input only
  by_selective,   // selective recompute drops it too: core attention (arXiv 2205.05198, section 5)
  by_norms,       // selective recompute of the norms' outputs
  by_activation,  // selective recompute of the activation's output
  by_mlp,         // selective recompute of the whole MLP
  by_latent_up,   // selective recompute of latent attention's projections up
  only_per_op,    // there under per-operation recompute only, which keeps products that nobody reads again
};

struct SavedTensor {
  const char* name;
  double elements = 0;  // of one micro-batch on one context rank, before the division over the tensor group
  Dtype dtype = Dtype::bf16;
  Shard shard = Shard::whole;
  Held held = Held::forward_to_input_grad;
  Dropped dropped = Dropped::by_full;
  double kept_per_op = 0;  // share that per-operation recompute keeps
};

/// Where a clamp stands before it, selective recompute of the activation makes its input again too.
inline Dropped activation_input_dropped(const LocalShape& shape) {
  return shape.clamp_apart ? Dropped::by_activation : Dropped::by_mlp;
}

/// A transformer block as Megatron-LM computes it (arXiv 2205.05198, section 4.1 and figure 3): 34 sbh + 5 as^2b bytes
/// in 16 bit with dropout and materialised scores, and the statistics of the norms, which the paper leaves out. `shape`
/// is that of the block's own sequence. Experts in the MLP's place: router, the tokens sent to this rank's experts,
/// shared experts (Megatron-LM, core/transformer/moe). The encoder's output, which all decoder blocks of a stage read,
/// is the stage's (encoder_output).
std::vector<SavedTensor> block_tensors(const LocalShape& shape, const BlockKind& kind = {});

/// Tokens of a micro-batch, each counted once per expert of this rank that it is sent to.
double routed_tokens(const LocalShape& shape);

/// The parts that blocks are put together from.
void add_mlp_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows);
void add_moe_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows);
void add_cross_attention_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows);
void add_prediction_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows);

/// What a decoder block's attention to an encoder reads; one tensor per micro-batch, whatever the number of blocks.
SavedTensor encoder_output(const LocalShape& shape);

/// Token ids and the dropout mask. The output is the first block's input and counted there.
std::vector<SavedTensor> embedding_tensors(const LocalShape& shape);

/// The final norm and the output projection's input. Never recomputed.
std::vector<SavedTensor> head_tensors(const LocalShape& shape);

/// Pieces that a chunked loss cuts the tokens into.
inline constexpr double loss_chunks = 8;

/// Vocabulary-parallel cross-entropy: the softmax in fp32 (Megatron-LM, core/tensor_parallel/cross_entropy.py), labels,
/// and between I and W the gradient of the logits.
std::vector<SavedTensor> loss_tensors(const LocalShape& shape);

/// Bytes per micro-batch on one rank.
struct LayerActivations {
  Bytes kept;                 // from F on
  Bytes recomputed;           // made again in the backward pass: what the rule dropped
  Bytes held_by_weight_grad;  // between I and W
};
LayerActivations activations_of(const LocalShape& shape, const std::vector<SavedTensor>& tensors, Recompute recompute);

/// Transient bytes beyond what is kept, at the worst moment of one layer.
struct WorkingSet {
  Bytes forward;
  Bytes backward;  // gradients passed between kernels, recomputed tensors included
};
WorkingSet block_working_set(const LocalShape& shape, const BlockKind& kind, Recompute recompute);

}  // namespace stagecraft

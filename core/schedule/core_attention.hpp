#pragma once
// softmax(Q K^T) V between the projections, as one rank of the tensor and context group computes it. A method of
// context parallelism is a pair of functions and a line in the table of core_attention.cpp; they share the kernels
// below.

#include "plan/attended.hpp"
#include "schedule/body_segments.hpp"

namespace stagecraft {

struct CoreShape {
  std::int64_t sequences = 1;
  std::int64_t heads = 1, kv_heads = 1;      // of this rank
  std::int64_t head_dim = 1, value_dim = 1;  // of queries and keys, of values
  std::int64_t queries = 1, keys = 1;        // tokens of one sequence that meet in this kernel
  std::int64_t length = 1;                   // of the whole sequence of keys
  std::int64_t context = 1;                  // ranks that share it
  bool causal = true;                        // the mask lies on this kernel's diagonal
  bool masked = true;                        // the attention is causal, all steps of a ring together
  bool of_others = false;                    // a ring's step on another rank's keys: on those that the mask leaves
  Mask mask;
  double pairs = 0;    // of one head and sequence, of the busiest rank
  double average = 1;  // of the average rank over that
  bool flash = true;
  bool fused_softmax = false;
  bool again = false;  // selective recompute: the forward runs once more in the backward
  bool dropout = false;
  std::int32_t flash_version = 2;
};

/// 1 to 4, or 0 for a kernel that is no flash attention.
std::int32_t flash_version(AttentionKernel kernel);

/// Self-attention of a block, or with `cross` the attention of a decoder to the encoder's output.
CoreShape core_shape(const BodyShape& shape, const Plan& plan, const BlockKind& kind, bool cross = false);

void add_core_attention_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape,
                                const Plan& plan);
void add_core_attention_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape,
                                 const Plan& plan);

/// The kernels alone, without what other ranks send (core_attention_kernels.cpp).
void add_local_attention_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape);
void add_local_attention_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape);

/// Elements of Q (or of the output, by its width) and of K and V together, for `tokens` tokens of every sequence.
double query_elements(const CoreShape& core, std::int64_t tokens);
double output_elements(const CoreShape& core, std::int64_t tokens);
double key_value_elements(const CoreShape& core, std::int64_t tokens);

using AttentionForward = void (*)(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape,
                                  const Plan& plan);
using AttentionBackward = void (*)(const BackwardList& list, const CoreShape& core, const BodyShape& shape,
                                   const Plan& plan);

// One file each: context_ring.cpp, context_ulysses.cpp, context_all_gather.cpp.
void add_ring_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape, const Plan& plan);
void add_ring_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape, const Plan& plan);
void add_ulysses_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape, const Plan& plan);
void add_ulysses_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape, const Plan& plan);
void add_all_gather_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape, const Plan& plan);
void add_all_gather_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape, const Plan& plan);

}  // namespace stagecraft

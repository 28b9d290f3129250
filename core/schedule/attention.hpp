#pragma once
// The attention layer of a block: projections, core attention, output projection, with the collectives of its tensor
// region; without the norm in front and the residual behind. A new one is a file with two functions and a line in the
// table of attention.cpp.

#include "schedule/body_segments.hpp"

namespace stagecraft {

struct AttentionLayer {
  const char* name;
  bool (*applies)(const ModelSpec& model);
  void (*forward)(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan, const BlockKind& kind);
  void (*backward)(const BackwardList& list, const BodyShape& shape, const Plan& plan, const BlockKind& kind);
  /// Numbers that stay for the backward pass behind its input, up to that of the output projection.
  double (*kept)(const BodyShape& shape, const Plan& plan);
};

/// The first line of the table that applies.
const AttentionLayer& attention_layer_of(const ModelSpec& model);

/// Of the output projection from `width` columns: its gradient gathered, multiplied with the weights, and theirs.
void add_projection_backward(const BackwardList& list, const BodyShape& shape, std::int64_t width);

// attention_grouped.cpp: multi-head and grouped-query attention.
void add_grouped_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                                   const BlockKind& kind);
void add_grouped_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                    const BlockKind& kind);

double kept_by_grouped_attention(const BodyShape& shape, const Plan& plan);

// attention_latent.cpp: multi-head latent attention.
double kept_by_latent_attention(const BodyShape& shape, const Plan& plan);
void add_latent_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                                  const BlockKind& kind);
void add_latent_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                   const BlockKind& kind);

// attention_cross.cpp: a decoder's attention to the encoder's output, with its norm and residual.
void add_cross_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                                 const BlockKind& kind);
void add_cross_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                  const BlockKind& kind);

}  // namespace stagecraft

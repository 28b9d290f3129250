#include "schedule/attention.hpp"

#include <algorithm>
#include <array>

namespace stagecraft {
namespace {

constexpr std::array<AttentionLayer, 2> layers{{
    {"latent", [](const ModelSpec& model) { return model.attention.latent.kv_rank > 0; }, add_latent_attention_forward,
     add_latent_attention_backward, kept_by_latent_attention},
    {"grouped", [](const ModelSpec&) { return true; }, add_grouped_attention_forward, add_grouped_attention_backward,
     kept_by_grouped_attention},
}};

}  // namespace

void add_projection_backward(const BackwardList& list, const BodyShape& shape, std::int64_t width) {
  if (shape.sequence_parallel) {
    list.input_grad(
        collective("attention-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
  for (const Segment& cast : casts("projection-grad-cast", shape, shape.tokens, shape.hidden)) list.input_grad(cast);
  list.input_grad(gemm("projection-input-grad", shape, shape.tokens, width, shape.hidden));
  add_weight_grad(list, "projection-weight-grad", "projection-accumulate", shape, shape.tokens, shape.hidden, width);
}

const AttentionLayer& attention_layer_of(const ModelSpec& model) {
  return *std::find_if(layers.begin(), layers.end(), [&](const AttentionLayer& layer) { return layer.applies(model); });
}

}  // namespace stagecraft

#include "schedule/attention.hpp"

#include <algorithm>
#include <array>

namespace stagecraft {
namespace {

constexpr std::array<AttentionLayer, 2> layers{{
    {"latent", [](const ModelSpec& model) { return model.attention.latent.kv_rank > 0; }, add_latent_attention_forward,
     add_latent_attention_backward},
    {"grouped", [](const ModelSpec&) { return true; }, add_grouped_attention_forward, add_grouped_attention_backward},
}};

}  // namespace

const AttentionLayer& attention_layer_of(const ModelSpec& model) {
  return *std::find_if(layers.begin(), layers.end(), [&](const AttentionLayer& layer) { return layer.applies(model); });
}

}  // namespace stagecraft

#include "memory/attention_memory.hpp"

#include <algorithm>
#include <array>

namespace stagecraft {
namespace {

constexpr std::array<AttentionMemory, 2> layers{{
    {"latent", [](const AttentionSpec& attention) { return attention.latent.kv_rank > 0; }, add_latent_parameters,
     add_latent_tensors, latent_widths},
    {"grouped", [](const AttentionSpec&) { return true; }, add_grouped_parameters, add_grouped_tensors, grouped_widths},
}};

}  // namespace

const AttentionMemory& attention_memory_of(const AttentionSpec& attention) {
  return *std::find_if(layers.begin(), layers.end(),
                       [&](const AttentionMemory& one) { return one.applies(attention); });
}

}  // namespace stagecraft

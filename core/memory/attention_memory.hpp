#pragma once
// What each kind of attention layer costs in memory: one table, which a new kind adds a line to
// (schedule/attention.hpp has the one of its time).

#include <vector>

#include "memory/activations.hpp"
#include "memory/parameters.hpp"

namespace stagecraft {

/// Numbers per token of what the layer's matrix products make, whole, before the tensor group divides them.
struct AttentionWidths {
  double qkv = 0;     // queries, keys and values together
  double output = 0;  // of the core attention
};

struct AttentionMemory {
  const char* name;
  bool (*applies)(const AttentionSpec& attention);
  void (*add_parameters)(const ModelSpec& model, std::vector<ParameterTensor>& tensors);
  void (*add_tensors)(const LocalShape& shape, std::vector<SavedTensor>& rows);
  AttentionWidths (*widths)(const LocalShape& shape);
};

/// The first line that applies.
const AttentionMemory& attention_memory_of(const AttentionSpec& attention);

// attention_grouped_memory.cpp, attention_latent_memory.cpp
void add_grouped_parameters(const ModelSpec& model, std::vector<ParameterTensor>& tensors);
void add_grouped_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows);
AttentionWidths grouped_widths(const LocalShape& shape);
void add_latent_parameters(const ModelSpec& model, std::vector<ParameterTensor>& tensors);
void add_latent_tensors(const LocalShape& shape, std::vector<SavedTensor>& rows);
AttentionWidths latent_widths(const LocalShape& shape);

}  // namespace stagecraft

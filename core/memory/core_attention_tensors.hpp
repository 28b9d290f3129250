#pragma once
// What the kernel between the projections of an attention keeps: scores or their statistics, and the output.

#include <vector>

#include "memory/activations.hpp"

namespace stagecraft {

struct CoreAttention {
  double keys = 0;     // that a query sees
  double output = 0;   // elements of the output
  bool cross = false;  // a decoder's attention to the encoder; its tensors have names of their own
};

inline CoreAttention self_attention(const LocalShape& shape, double output) {
  return {shape.sequence, output, false};
}

void add_core_attention_tensors(const LocalShape& shape, const CoreAttention& core, std::vector<SavedTensor>& rows);

}  // namespace stagecraft

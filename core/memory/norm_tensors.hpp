#pragma once
// What norms keep beside their input and statistics.

#include <vector>

#include "memory/activations.hpp"

namespace stagecraft {

/// RMSNorm written out in PyTorch works on an fp32 copy, which it keeps in the place of the 16-bit input, and keeps the
/// 16-bit result before the product with the weight. LayerNorm is one kernel in PyTorch itself.
void add_unfused_norm(const char* copy, const char* result, const LocalShape& shape, std::vector<SavedTensor>& rows);

}  // namespace stagecraft

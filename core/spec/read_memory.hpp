#pragma once
// The settings of a scenario that decide where bytes lie: recipe, optimizer, recompute scope, sharding, offload.

#include "spec/object_reader.hpp"

namespace stagecraft {

/// Precondition: precision, recompute, zero_stage and parallel have been read.
void read_memory(ObjectReader& scenario, const ModelSpec& model, RunSpec& run);

}  // namespace stagecraft

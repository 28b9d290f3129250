#pragma once
// The model states that DeepSpeed's own estimators print, so that its users find their figures again.

#include "base/units.hpp"

namespace stagecraft {

enum class DeepSpeedOffload : unsigned char { none, optimizer, optimizer_and_parameters };

/// GPU bytes of model states on each of `gpus` GPUs. ZeRO-2: 4 P + 16 P / gpus, or 2 P with the optimizer on the host;
/// ZeRO-3: 4 bytes of each parameter of the largest layer, gathered, and 18 P / gpus, of which 2 P / gpus stay with the
/// optimizer on the host and nothing with the parameters there too (DeepSpeed, docs/code-docs/source/memory.rst).
/// Precondition: zero_stage is 2 or 3; ZeRO-2 does not offload parameters.
Bytes deepspeed_model_states(int zero_stage, DeepSpeedOffload offload, double parameters, double largest_layer,
                             double gpus);

}  // namespace stagecraft

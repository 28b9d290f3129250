#pragma once
// The classes into which every second of a step falls, for one rank and along the critical path alike.

#include <array>
#include <cstddef>
#include <cstdint>

#include "schedule/op.hpp"

namespace stagecraft {

enum class TimeClass : std::uint8_t {
  forward,
  backward,  // input and weight gradients
  recompute,
  tensor_communication,    // exposed: inside a compute operation, not behind its kernels
  context_communication,   // the same over the context group
  expert_communication,    // the same over the expert group: dispatch and combine
  pipeline_communication,  // exposed: what is awaited has been produced but has not arrived
  data_communication,      // exposed: gradient reductions and parameter gathers, tied embeddings and those inside a
                           // compute operation included
  host_copies,             // exposed: copies between GPU and host
  bubble_warmup,           // idle before the rank's first backward
  bubble_steady,           // idle in between
  bubble_cooldown,         // idle after the rank's last forward
  optimizer,
  other,  // idle although everything that is awaited is there, or for no known reason
};
inline constexpr std::size_t time_class_count = 14;

/// The key in JSON and CSV: "forward", "tensor_communication", "bubble_warmup", ...
const char* key_of(TimeClass time_class);
/// In words: "forward", "exposed tensor-parallel communication", "bubble, warm-up", ...
const char* to_text(TimeClass time_class);

TimeClass class_of(OpKind kind);
bool is_bubble(TimeClass time_class);

using Breakdown = std::array<double, time_class_count>;  // seconds
double total(const Breakdown& seconds);
double bubble(const Breakdown& seconds);  // the three bubble classes

}  // namespace stagecraft

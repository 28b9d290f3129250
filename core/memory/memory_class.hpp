#pragma once
// The classes that bytes on a GPU are counted under.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"

namespace stagecraft {

enum class MemoryClass : std::uint8_t {
  parameters,
  gradients,
  optimizer_states,  // fp32 master copy included
  activations,
  logits,         // head output, softmax and loss
  communication,  // messages of the pipeline, gathered inputs of sequence parallelism
  overhead,       // context, libraries, workspaces
};
inline constexpr std::size_t memory_class_count = 7;

/// The word of the class in reports and traces: "optimizer_states".
const char* to_text(MemoryClass memory_class);

/// Bytes per class, indexed by MemoryClass.
using MemoryByClass = std::array<Bytes, memory_class_count>;

Bytes total(const MemoryByClass& by_class);

inline Bytes& at(MemoryByClass& by_class, MemoryClass memory_class) {
  return by_class[static_cast<std::size_t>(memory_class)];
}
inline Bytes at(const MemoryByClass& by_class, MemoryClass memory_class) {
  return by_class[static_cast<std::size_t>(memory_class)];
}

/// The class with the most bytes; the first of equals.
MemoryClass dominating_class(const MemoryByClass& by_class);

MemoryByClass& operator+=(MemoryByClass& a, const MemoryByClass& b);

}  // namespace stagecraft

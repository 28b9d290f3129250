#include "memory/memory_class.hpp"

#include <algorithm>

namespace stagecraft {

const char* to_text(MemoryClass memory_class) {
  switch (memory_class) {
    case MemoryClass::parameters:
      return "parameters";
    case MemoryClass::gradients:
      return "gradients";
    case MemoryClass::optimizer_states:
      return "optimizer_states";
    case MemoryClass::activations:
      return "activations";
    case MemoryClass::logits:
      return "logits";
    case MemoryClass::communication:
      return "communication";
    case MemoryClass::overhead:
      return "overhead";
  }
  return "";
}

Bytes total(const MemoryByClass& by_class) {
  Bytes sum;
  for (const Bytes bytes : by_class) sum += bytes;
  return sum;
}

MemoryClass dominating_class(const MemoryByClass& by_class) {
  const auto largest = std::max_element(by_class.begin(), by_class.end());
  return static_cast<MemoryClass>(largest - by_class.begin());
}

MemoryByClass& operator+=(MemoryByClass& a, const MemoryByClass& b) {
  for (std::size_t i = 0; i < memory_class_count; ++i) a[i] += b[i];
  return a;
}

}  // namespace stagecraft

#include "validate/memory_words.hpp"

namespace stagecraft {

const char* word_of(MemoryReading kind) {
  switch (kind) {
    case MemoryReading::allocated:
      return "allocated";
    case MemoryReading::reserved:
      return "reserved";
    case MemoryReading::device:
      return "device";
  }
  return "";
}

const char* word_of(MemoryOf rank) {
  switch (rank) {
    case MemoryOf::largest:
      return "largest";
    case MemoryOf::smallest:
      return "smallest";
    case MemoryOf::first:
      return "first";
    case MemoryOf::middle:
      return "middle";
    case MemoryOf::last:
      return "last";
  }
  return "";
}

}  // namespace stagecraft

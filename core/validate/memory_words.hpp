#pragma once
// What reports call the readings of memory.

#include "validate/record.hpp"

namespace stagecraft {

const char* word_of(MemoryReading kind);  // "allocated"
const char* word_of(MemoryOf rank);       // "largest"

}  // namespace stagecraft

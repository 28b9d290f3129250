#pragma once
// How this process treats memory that it frees.

namespace stagecraft {

/// Keeps freed memory for the next evaluation instead of handing it back to the kernel. A program that evaluates many
/// layouts calls it once at its start: page faults were half of an estimate. No effect where the C library has no such
/// knob.
void keep_freed_memory();

}  // namespace stagecraft

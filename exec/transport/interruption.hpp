#pragma once
// A reason for this process to stop waiting, set from a signal handler.

namespace stagecraft {

/// `reason` is static text. Every wait and poll of this process throws TransportError(aborted) with it from then on.
void interrupt_waits(const char* reason) noexcept;

/// Null unless interrupted.
const char* interruption() noexcept;

/// Throws if interrupted.
void throw_if_interrupted();

}  // namespace stagecraft

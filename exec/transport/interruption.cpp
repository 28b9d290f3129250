#include "exec/transport/interruption.hpp"

#include <atomic>

#include "exec/transport/transport.hpp"

namespace stagecraft {

namespace {

// A signal handler can reach nothing but an atomic with static storage.
std::atomic<const char*> reason_to_stop{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

}  // namespace

void interrupt_waits(const char* reason) noexcept {
  reason_to_stop.store(reason);
}

const char* interruption() noexcept {
  return reason_to_stop.load();
}

void throw_if_interrupted() {
  if (const char* reason = interruption()) throw TransportError(TransportFailure::aborted, reason);
}

}  // namespace stagecraft

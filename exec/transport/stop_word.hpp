#pragma once
// How back ends carry the reason for which a rank has stopped the job, with its cause, as one text.

#include <string>

#include "exec/transport/transport.hpp"

namespace stagecraft {

std::string stop_word(const std::string& reason, StopCause cause);

/// Throws TransportError(aborted) with the reason and the cause that `word` carries.
[[noreturn]] void throw_stopped(const std::string& word);

}  // namespace stagecraft

#pragma once

namespace stagecraft {

/// Code of the errors about parts of a model whose memory is modelled and whose time is not.
inline constexpr const char* untimed_code = "time-not-modelled";

}  // namespace stagecraft

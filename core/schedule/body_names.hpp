#pragma once
// Names of segments that other rooms look for.

namespace stagecraft {

inline constexpr const char* gradient_clipping_segment = "gradient-clipping";

}  // namespace stagecraft

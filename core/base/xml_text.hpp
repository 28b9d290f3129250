#pragma once

#include <string>
#include <string_view>

namespace stagecraft {

/// A text as XML holds it between tags; control characters become blanks.
std::string xml_text(std::string_view text);

}  // namespace stagecraft

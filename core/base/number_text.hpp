#pragma once
// Numbers as flags give them: checked before anything is done with them.

#include <string>

namespace stagecraft {

/// "" if the whole of `text` is a finite number from `least` to `most`, else what was got and what was expected.
std::string refuse_number(const std::string& text, double least, double most);

}  // namespace stagecraft

#pragma once
// What is wrong with a text that is no JSON, in words and at the right place. Internal to the room.

#include <cstddef>
#include <string>
#include <string_view>

namespace stagecraft {

struct SyntaxError {
  std::size_t offset = 0;  // in bytes: where the message points
  std::string got, expected;
};

/// `read`: bytes read when the parser gave up, `token` the number or string it was in, `why` its own words.
SyntaxError explain_syntax_error(std::string_view text, std::size_t read, const std::string& token,
                                 std::string_view why);

}  // namespace stagecraft

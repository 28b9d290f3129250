#pragma once
// Numbers of JSON.

#include <cstdint>
#include <optional>
#include <string_view>

namespace stagecraft {

struct JsonNumber {
  double value = 0;
  std::int64_t whole = 0;  // truncated; 0 where it does not fit; bits 0 to 62 of integers from 2^63 to 2^64
};

/// The double nearest to the text, which is 0 for what is too small for one. Nothing if the text is no number of JSON
/// (RFC 8259, section 6), or too large for a double.
std::optional<JsonNumber> parse_json_number(std::string_view text);

}  // namespace stagecraft

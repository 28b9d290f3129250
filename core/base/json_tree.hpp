#pragma once
// How a JsonDocument keeps its values: one flat list in the order of the text. Only json_*.cpp look inside.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"

namespace stagecraft {

/// A stretch of JsonTree::letters.
struct JsonText {
  std::uint32_t begin;
  std::uint32_t size;
};

struct JsonValue {
  JsonKind kind = JsonKind::null;
  std::int16_t origin = 0;   // index of JsonTree::origins
  std::int32_t parent = -1;  // index of the object or array around it
  std::int32_t end = 0;      // index one past its last descendant: the next sibling, if there is one
  std::int32_t line = 0;
  std::int32_t column = 0;
  JsonText key{0, 0};
  union {
    bool boolean;
    std::int64_t integer = 0;
    double number;
    JsonText text;
  };
};

/// Where values were written. `prefix` is the JSON pointer of this document's root within that file.
struct JsonOrigin {
  std::string file;
  std::string prefix;
};

struct JsonTree {
  std::vector<JsonValue> values;  // values[0] is the root; children follow their parent
  std::string letters;            // keys and strings
  std::vector<JsonOrigin> origins;

  const JsonValue& at(std::int32_t index) const { return values[static_cast<std::size_t>(index)]; }
  JsonValue& at(std::int32_t index) { return values[static_cast<std::size_t>(index)]; }
  std::int32_t next_index() const { return static_cast<std::int32_t>(values.size()); }
  std::string_view view(JsonText text) const { return std::string_view(letters).substr(text.begin, text.size); }
  JsonText keep(std::string_view text) {
    const JsonText kept{static_cast<std::uint32_t>(letters.size()), static_cast<std::uint32_t>(text.size())};
    letters += text;
    return kept;
  }
};

/// Limits that keep memory and time bounded, whatever a file holds.
inline constexpr std::size_t json_largest_text = std::size_t{64} << 20;
inline constexpr std::size_t json_most_values = std::size_t{4} << 20;
inline constexpr int json_deepest = 64;

}  // namespace stagecraft

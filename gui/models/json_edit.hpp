#pragma once
// Edits one value inside the text of a JSON document; every other byte stays as its author wrote it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft::gui {

/// A place where a string stands for an object: "cluster": "selene" is short for {"extends": "selene"}. Setting a
/// member of it spells the object out.
struct ShortKey {
  std::string_view pointer, key;
};

/// The text with the value at `pointer` (a JSON pointer, objects only) set to `value`, JSON text itself. Objects that
/// are missing on the way are made; a new member goes behind the last one of its object, laid out like its neighbours.
/// Throws InputError if `text` is no JSON object or something on the way can hold no members.
std::string with_value(std::string_view text, std::string_view pointer, std::string_view value,
                       std::span<const ShortKey> short_keys = {});

/// The text without the member at `pointer`, and without the objects that hold nothing else. Unchanged if it is not
/// there.
std::string without_value(std::string_view text, std::string_view pointer);

/// The JSON text of the value at `pointer`, "" if it is not there.
std::string value_at(std::string_view text, std::string_view pointer);

/// JSON text of a string.
std::string json_string(std::string_view text);

/// The keys of a pointer: "/parallel/tensor" -> {"parallel", "tensor"}.
std::vector<std::string> pointer_keys(std::string_view pointer);

}  // namespace stagecraft::gui

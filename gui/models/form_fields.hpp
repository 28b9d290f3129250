#pragma once
// The fields of the scenario form, read off the JSON Schema: what may stand there, in words, ranges and units.

#include <cstdint>
#include <string>
#include <vector>

namespace stagecraft::gui {

enum class FieldKind : std::uint8_t {
  integer,
  number,
  boolean,
  choice,    // one of `choices`
  name,      // one of `choices`, or the path of a file
  quantity,  // a number with a unit, "160 MB"
  text,
};

struct FormField {
  std::string pointer;  // "/parallel/tensor"
  std::string group;    // "Parallel layout"
  std::string title;    // "Tensor"
  std::string description;
  FieldKind kind = FieldKind::text;
  double minimum = 0, maximum = 0;   // of numbers, inclusive
  std::vector<std::string> choices;  // of words
  std::string unit;                  // "GPUs", "tokens", "" for words
  std::string default_text;          // of the schema, "" if it has none
  bool list = false;                 // takes a list too: "9, 10, 10, 9"
};

/// In the order of the form. `models`, `clusters`, `schedules` are the names that the library knows.
struct KnownNames {
  std::vector<std::string> models, clusters, gpus, schedules, calibrations;
};
std::vector<FormField> form_fields(const KnownNames& names);

/// "virtual_stages" -> "Virtual stages".
std::string title_of(const std::string& key);

}  // namespace stagecraft::gui

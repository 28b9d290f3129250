#pragma once
// What every field of a scenario is worth now, and who said so: this file, one that it extends, the library, or the
// program.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/form_fields.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::gui {

enum class ValueOrigin : std::uint8_t {
  here,       // written in the scenario file
  inherited,  // written in a file that the scenario extends
  library,    // of the model or cluster that the scenario names
  chosen,     // a default, with its reason
  absent,     // not set and without a default
};

struct FieldValue {
  std::string text;  // as it would be written, strings without quotation marks
  ValueOrigin origin = ValueOrigin::absent;
  std::string whence;  // the file, or the reason of a default
  friend bool operator==(const FieldValue&, const FieldValue&) = default;
};

/// By pointer of the field. `scenario` may be null: then defaults are those of the schema. Never throws: what cannot be
/// read is left out.
std::map<std::string, FieldValue> field_values(std::string_view text, const std::string& path,
                                               const std::vector<FormField>& fields, const Scenario* scenario,
                                               const Library& library);

/// The JSON text of what a person typed or picked for a field: 8, "1f1b", true, [9, 10, 10, 9]. Valid JSON whatever was
/// typed: a number that is none is a string, which the reader then refuses.
std::string literal_of(const FormField& field, const std::string& typed);

/// The values that a finding offers: "6 or 8" -> {"6", "8"}; empty if they are not values but advice.
std::vector<std::string> offered_values(const std::string& nearest);

/// Where an edit of a field goes: "/schedule/name" is "/schedule" in a file that names the schedule alone.
std::string written_pointer(std::string_view text, const std::string& field);

}  // namespace stagecraft::gui

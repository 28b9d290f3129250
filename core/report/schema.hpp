#pragma once

#include <string>

namespace stagecraft {

/// JSON Schema (draft 7) of the report's JSON form, every key described.
std::string report_schema_text();

}  // namespace stagecraft

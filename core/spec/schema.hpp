#pragma once
// The JSON Schemas of the files people write, and holding a document against one.

#include <string>

#include "base/json_reader.hpp"

namespace stagecraft {

/// Throws InputError at the first place where `root` breaks the schema "scenario", "model", "cluster" or "gpu". Members
/// that may be a reference to another file are checked against that file's schema as well.
void check_schema(const JsonNode& root, const std::string& name);

/// The reference of all fields of a schema as Markdown: one table per object, in the order of the schema.
std::string schema_markdown(const std::string& name);

/// The whole of docs/scenario.md: how files name each other and units are written, then every field of every schema.
std::string scenario_reference();

}  // namespace stagecraft

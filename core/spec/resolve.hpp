#pragma once
// A scenario as it stands after everything that it extends has been laid under it, before models and clusters are
// looked up. For editors, which show a value together with the file that it comes from.

#include <string>
#include <string_view>

#include "base/json_reader.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// `name` stands for the text in messages, and relative paths start at its directory. Throws InputError.
JsonDocument resolve_scenario(std::string_view text, const std::string& name);

/// A model, cluster or GPU ("models", "clusters", "gpus") that `node` names, extends or spells out, with all fields.
JsonDocument resolve_part(const JsonNode& node, const std::string& kind, const Library& library);

}  // namespace stagecraft

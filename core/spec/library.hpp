#pragma once
// Finding files by name: models, GPUs, clusters and calibrations of the library, and paths beside the file that names
// them.

#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "spec/scenario.hpp"

namespace stagecraft {

/// True for "./my.json", "models/my.json", "my.json"; false for a bare name.
bool is_path(const std::string& name_or_path);

/// A relative path in a file means: from the directory of that file. On the command line: from the working directory.
std::string beside(const JsonNode& node, const std::string& path);

/// The file that `node`, a string, names: a path, or DIR/kind/NAME.json. Throws InputError with the nearest name.
std::string locate(const JsonNode& node, const std::string& kind, const Library& library);

/// The same for a name from elsewhere than a file; relative paths start at the working directory.
std::string locate(const std::string& name_or_path, const std::string& kind, const Library& library);

/// Names of the files DIR/kind/*.json, sorted, each once.
std::vector<std::string> names_of(const std::string& kind, const Library& library);

}  // namespace stagecraft

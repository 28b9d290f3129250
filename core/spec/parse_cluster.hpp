#pragma once
// A cluster from a text that lies in no file.

#include <string>
#include <string_view>

#include "spec/scenario.hpp"

namespace stagecraft {

/// `name` stands for the text in messages, and relative paths start at its directory. Throws InputError.
ClusterSpec parse_cluster(std::string_view text, const std::string& name, const Library& library);

}  // namespace stagecraft

#pragma once
// Short forms for the devices of a node: "gpu{0..7}" stands for gpu0 to gpu7 with i = 0 to 7, and "pcie{i/2}" beside it
// for the device that goes with each i.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"

namespace stagecraft {

struct NumberedName {
  std::string name;
  std::int64_t i = 0;
};

/// The names that a string with at most one "{first..last}" stands for. Throws InputError if the braces hold anything
/// else or stand for more than 4096 names.
std::vector<NumberedName> expand_names(const JsonNode& node);

/// Replaces each "{expression}" by its value. An expression has whole numbers, i, + - * / % and no parentheses; /
/// rounds down. Throws InputError if it is malformed, divides by zero or is negative.
std::string name_at(const JsonNode& node, std::int64_t i);

}  // namespace stagecraft

#pragma once
// Typed reading of JSON values: each reader returns a value that holds what it says, or throws InputError with file,
// line, column, JSON pointer, what stands there, what was expected and the nearest valid value.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"

namespace stagecraft {

/// The largest integer that a double holds exactly, 2^53.
inline constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 53;

std::int64_t read_integer(const JsonNode& node, std::int64_t min, std::int64_t max = largest_exact_integer);
double read_number(const JsonNode& node, double min, double max);  // integers are numbers too
bool read_boolean(const JsonNode& node);
/// Any, also empty. Control characters are refused, but for line ends and tabs; a string that must not be empty, often
/// a name, has neither.
std::string read_string(const JsonNode& node);
std::string read_nonempty_string(const JsonNode& node);
std::string read_one_of(const JsonNode& node, const std::vector<std::string>& words);  // nearest word on refusal

std::vector<std::int64_t> read_integers(const JsonNode& node, std::int64_t min, std::int64_t max);
std::vector<double> read_numbers(const JsonNode& node, double min, double max);
std::vector<std::string> read_strings(const JsonNode& node);

/// A string with a unit, "80 GiB"; a bare number is refused with a message that shows how to write it. The bounds are
/// inclusive and in base units.
double read_quantity(const JsonNode& node, Dimension dimension, double min, double max);
Bytes read_bytes(const JsonNode& node, Bytes min = {0}, Bytes max = {1e18});
Seconds read_seconds(const JsonNode& node, Seconds min = {0}, Seconds max = {1e9});
Flops read_flops(const JsonNode& node, Flops min = {0}, Flops max = {1e30});
BytesPerSecond read_bytes_per_second(const JsonNode& node, BytesPerSecond min = {1}, BytesPerSecond max = {1e18});
FlopsPerSecond read_flops_per_second(const JsonNode& node, FlopsPerSecond min = {1}, FlopsPerSecond max = {1e24});

/// Throws for every member whose key is not in `keys`, all at once, each with the nearest key. "$schema" is always
/// allowed.
void only_keys(const JsonNode& object, const std::vector<std::string>& keys);

}  // namespace stagecraft

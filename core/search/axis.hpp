#pragma once
// The axes of a sweep: fields of a scenario and the values that each takes.

#include <cstdint>
#include <string>
#include <vector>

namespace stagecraft {

struct SweepAxis {
  std::string path;                 // as --set takes it: "parallel.tensor"
  std::vector<std::string> values;  // as --set takes them: "8", "full", {"name": "zb-h1"}
};

inline constexpr std::int64_t most_values_of_an_axis = 100'000;
inline constexpr std::int64_t most_points_of_a_sweep = 1'000'000;

/// "PATH=VALUES". VALUES is a list "1,2,4" (commas inside quotes, brackets or braces part nothing), a range "1..8" or
/// "1..8+2" (both ends included where the step meets them), or powers "1..64*2". Throws InputError whose file is
/// "--vary": no path, no values, a step of 0, too many values, a value twice.
SweepAxis parse_axis(const std::string& text);

/// The product of the axes. Throws InputError if a path occurs twice or there are more than most_points_of_a_sweep.
std::int64_t count_points(const std::vector<SweepAxis>& axes);

/// The values of point `point`, one per axis; the last axis changes fastest. Precondition: 0 <= point < count_points.
std::vector<std::string> values_of_point(const std::vector<SweepAxis>& axes, std::int64_t point);

/// The same as overrides "PATH=VALUE".
std::vector<std::string> overrides_of_point(const std::vector<SweepAxis>& axes, std::int64_t point);

}  // namespace stagecraft

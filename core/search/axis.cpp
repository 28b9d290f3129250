#include "search/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected,
                         const std::string& nearest = "") {
  throw InputError(InputProblem{"--vary", 0, 0, path, got, expected, nearest});
}

constexpr const char* forms = "PATH=LIST (1,2,4), PATH=RANGE (1..8 or 1..8+2) or PATH=POWERS (1..64*2)";

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Parts between commas that stand outside quotes, brackets and braces.
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false, escaped = false;
  for (const char letter : text) {
    if (letter == ',' && depth == 0 && !quoted) {
      parts.emplace_back();
      continue;
    }
    parts.back() += letter;
    if (escaped) {
      escaped = false;
    } else if (quoted && letter == '\\') {
      escaped = true;
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (!quoted && (letter == '[' || letter == '{')) {
      ++depth;
    } else if (!quoted && (letter == ']' || letter == '}')) {
      --depth;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// "1..8", "1..8+2", "1..64*2": the numbers, and how one follows from the one before.
struct Progression {
  double first = 0, last = 0, step = 1;
  bool multiplies = false;
};

std::optional<Progression> progression_of(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto sign = text.find_first_of("+*", dots + 3 < text.size() ? dots + 3 : text.size());
  const auto exponent = [&](std::size_t at) { return at > 0 && (text[at - 1] == 'e' || text[at - 1] == 'E'); };
  const bool stepped = sign != std::string::npos && !exponent(sign);
  const auto first = number_of(trimmed(text.substr(0, dots)));
  const auto last = number_of(trimmed(text.substr(dots + 2, stepped ? sign - dots - 2 : std::string::npos)));
  const auto step = stepped ? number_of(trimmed(text.substr(sign + 1))) : std::optional<double>(1);
  if (!first || !last || !step) return std::nullopt;
  return Progression{*first, *last, *step, stepped && text[sign] == '*'};
}

/// Whole numbers print as such.
std::string text_of(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{}", value);
}

std::vector<std::string> values_of(const Progression& steps, const std::string& path, const std::string& text) {
  if (steps.last < steps.first) refuse(path, text, "a range whose first value is not above its last");
  if (steps.multiplies && (steps.step <= 1 || steps.first <= 0))
    refuse(path, text, "powers with a first value above 0 and a factor above 1", "1..64*2");
  if (!steps.multiplies && steps.step <= 0) refuse(path, text, "a range with a step above 0", "1..8+1");
  std::vector<std::string> values;
  const double slack = 1e-9 * std::max({1.0, std::abs(steps.first), std::abs(steps.last)});
  double value = steps.first;
  for (std::int64_t i = 0; value <= steps.last + (steps.multiplies ? 0 : slack * steps.step); ++i) {
    if (i == most_values_of_an_axis)
      refuse(path, text, fmt::format("at most {} values on an axis", most_values_of_an_axis));
    values.push_back(text_of(value));
    value = steps.multiplies ? value * steps.step : steps.first + static_cast<double>(i + 1) * steps.step;
  }
  return values;
}

}  // namespace

SweepAxis parse_axis(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse("", "\"" + text + "\"", forms);
  SweepAxis axis;
  axis.path = text.substr(0, equals);
  const std::string written = trimmed(text.substr(equals + 1));
  if (const auto steps = progression_of(written)) {
    axis.values = values_of(*steps, axis.path, written);
  } else {
    axis.values = split_list(written);
  }
  if (static_cast<std::int64_t>(axis.values.size()) > most_values_of_an_axis)
    refuse(axis.path, fmt::format("{} values", axis.values.size()), fmt::format("at most {}", most_values_of_an_axis));
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    if (value.empty()) refuse(axis.path, "\"" + written + "\"", std::string("no empty value in ") + forms);
    if (!seen.insert(value).second) refuse(axis.path, value + " twice", "every value once");
  }
  return axis;
}

std::int64_t count_points(const std::vector<SweepAxis>& axes) {
  std::set<std::string> seen;
  std::int64_t points = 1;
  for (const SweepAxis& axis : axes) {
    std::string plain = axis.path.substr(axis.path.starts_with('/') ? 1 : 0);
    std::replace(plain.begin(), plain.end(), '/', '.');
    if (!seen.insert(plain).second) refuse(axis.path, "the path twice", "every path once");
    const auto values = static_cast<std::int64_t>(axis.values.size());
    if (values > 0 && points > most_points_of_a_sweep / values)
      refuse(axis.path, "a larger product of all axes", fmt::format("at most {} points", most_points_of_a_sweep));
    points *= values;
  }
  return points;
}

std::vector<std::string> values_of_point(const std::vector<SweepAxis>& axes, std::int64_t point) {
  std::vector<std::string> values(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto count = static_cast<std::int64_t>(axes[i].values.size());
    values[i] = axes[i].values[static_cast<std::size_t>(point % count)];
    point /= count;
  }
  return values;
}

std::vector<std::string> overrides_of_point(const std::vector<SweepAxis>& axes, std::int64_t point) {
  std::vector<std::string> overrides = values_of_point(axes, point);
  for (std::size_t i = 0; i < axes.size(); ++i) overrides[i] = axes[i].path + "=" + overrides[i];
  return overrides;
}

}  // namespace stagecraft

#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>

namespace stagecraft {
namespace {

struct Scale {
  std::string_view prefix;
  double factor;
};

constexpr std::array<Scale, 9> decimal_prefixes{
    {{"", 1.0}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}, {"Z", 1e21}, {"Y", 1e24}}};
constexpr std::array<Scale, 6> binary_prefixes{{{"Ki", 1024.0},
                                                {"Mi", 1048576.0},
                                                {"Gi", 1073741824.0},
                                                {"Ti", 1099511627776.0},
                                                {"Pi", 1125899906842624.0},
                                                {"Ei", 1152921504606846976.0}}};
constexpr std::array<Scale, 8> time_units{{{"ps", 1e-12},
                                           {"ns", 1e-9},
                                           {"us", 1e-6},
                                           {"ms", 1e-3},
                                           {"s", 1.0},
                                           {"min", 60.0},
                                           {"h", 3600.0},
                                           {"d", 86400.0}}};

std::optional<double> prefix_factor(std::string_view prefix, bool binary_allowed) {
  for (const Scale& scale : decimal_prefixes)
    if (scale.prefix == prefix) return scale.factor;
  if (binary_allowed)
    for (const Scale& scale : binary_prefixes)
      if (scale.prefix == prefix) return scale.factor;
  return std::nullopt;
}

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::optional<double> bytes_factor(std::string_view unit) {
  const bool bits = unit.ends_with('b');
  if (!drop_suffix(unit, "B") && !drop_suffix(unit, "b")) return std::nullopt;
  const std::optional<double> factor = prefix_factor(unit, true);
  if (!factor) return std::nullopt;
  return bits ? *factor / 8.0 : *factor;
}

std::optional<double> flops_factor(std::string_view unit) {
  if (!drop_suffix(unit, "FLOP")) return std::nullopt;
  return prefix_factor(unit, false);
}

std::optional<double> seconds_factor(std::string_view unit) {
  for (const Scale& scale : time_units)
    if (scale.prefix == unit) return scale.factor;
  return std::nullopt;
}

std::optional<double> unit_factor(std::string_view unit, Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return bytes_factor(unit);
    case Dimension::seconds:
      return seconds_factor(unit);
    case Dimension::flops:
      return flops_factor(unit);
    case Dimension::bytes_per_second:
      return drop_suffix(unit, "/s") ? bytes_factor(unit) : std::nullopt;
    case Dimension::flops_per_second:
      return drop_suffix(unit, "/s") ? flops_factor(unit) : std::nullopt;
  }
  return std::nullopt;
}

std::string expectation(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return R"(an amount of data with its unit, such as "80 GiB" or "61.3 GB")";
    case Dimension::seconds:
      return R"(a time with its unit (ps, ns, us, ms, s, min, h, d), such as "1.5 us")";
    case Dimension::flops:
      return R"(an amount of floating-point operations with its unit, such as "2.5 GFLOP")";
    case Dimension::bytes_per_second:
      return R"(a data rate with its unit, such as "25 GB/s" or "200 Gb/s")";
    case Dimension::flops_per_second:
      return R"(a rate of floating-point operations with its unit, such as "312 TFLOP/s")";
  }
  return "a quantity with its unit";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Three significant digits, without the zeros at the end that carry nothing.
std::string short_number(double value) {
  const double magnitude = std::abs(value);
  const int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string with_prefix(double value, std::string_view unit) {
  const double magnitude = std::abs(value);
  if (value == 0) return fmt::format("0 {}", unit);
  for (const Scale& scale : decimal_prefixes)
    if (magnitude / scale.factor < 999.5) {
      if (scale.factor == 1.0 && magnitude < 0.1) return fmt::format("{:.3g} {}", value, unit);
      return fmt::format("{} {}{}", short_number(value / scale.factor), scale.prefix, unit);
    }
  return fmt::format("{:.3g} {}", value, unit);
}

}  // namespace

ParsedQuantity parse_quantity(std::string_view text, Dimension dimension) {
  const ParsedQuantity refused{false, 0, expectation(dimension)};
  constexpr std::size_t longest = 64;
  text = trimmed(text);
  if (text.size() > longest || text.starts_with('+')) return refused;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return refused;
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  const std::optional<double> factor = unit_factor(unit, dimension);
  if (!factor || !std::isfinite(number * *factor)) return refused;
  return {true, number * *factor, {}};
}

std::string to_text(Bytes amount) {
  return with_prefix(amount.value, "B");
}
std::string to_text(Flops amount) {
  return with_prefix(amount.value, "FLOP");
}
std::string to_text(BytesPerSecond rate) {
  return with_prefix(rate.value, "B/s");
}
std::string to_text(FlopsPerSecond rate) {
  return with_prefix(rate.value, "FLOP/s");
}

std::string to_text(Seconds time) {
  const double magnitude = std::abs(time.value);
  if (time.value == 0) return "0 s";
  if (!std::isfinite(magnitude)) return fmt::format("{} s", time.value);
  if (magnitude >= 999.5) {
    const double minutes = magnitude / 60.0;
    const std::string_view unit = minutes < 120.0 ? "min" : minutes < 2880.0 ? "h" : "d";
    const double factor = *seconds_factor(unit);
    return magnitude / factor < 1e6 ? fmt::format("{} {}", short_number(time.value / factor), unit)
                                    : fmt::format("{:.3g} {}", time.value / factor, unit);
  }
  for (const std::string_view unit : {"ps", "ns", "us", "ms", "s"}) {
    const double factor = *seconds_factor(unit);
    if (magnitude / factor >= 999.5) continue;
    if (magnitude / factor < 0.1) return fmt::format("{:.3g} {}", time.value / factor, unit);
    return fmt::format("{} {}", short_number(time.value / factor), unit);
  }
  return fmt::format("{:.3g} s", time.value);
}

}  // namespace stagecraft

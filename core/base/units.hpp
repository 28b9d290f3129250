#pragma once
// Quantities with a dimension. A plain double never crosses a header where one of these would say more.

#include <compare>
#include <string>
#include <string_view>

namespace stagecraft {

/// A non-negative or signed amount of one dimension. Whole bytes up to 2^53 are exact.
template <class Dimension>
struct Quantity {
  double value = 0;

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  constexpr Quantity& operator+=(Quantity b) { return value += b.value, *this; }
  constexpr Quantity& operator-=(Quantity b) { return value -= b.value, *this; }
};

using Bytes = Quantity<struct BytesDimension>;
using Seconds = Quantity<struct SecondsDimension>;
using Flops = Quantity<struct FlopsDimension>;  // an amount of floating-point operations, not a rate
using BytesPerSecond = Quantity<struct BytesPerSecondDimension>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondDimension>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return {amount.value / rate.value};
}
constexpr Seconds operator/(Flops amount, FlopsPerSecond rate) {
  return {amount.value / rate.value};
}
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return {amount.value / time.value};
}
constexpr FlopsPerSecond operator/(Flops amount, Seconds time) {
  return {amount.value / time.value};
}
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) {
  return {rate.value * time.value};
}
constexpr Flops operator*(FlopsPerSecond rate, Seconds time) {
  return {rate.value * time.value};
}

/// What a text with a unit may hold; `parse_quantity` refuses any other unit.
enum class Dimension { bytes, seconds, flops, bytes_per_second, flops_per_second };

/// Result of reading "400 Gb/s", "80 GiB", "1.5 us", "312 TFLOP/s": a value in base units (bytes, seconds, FLOPs and
/// their rates), or the reason for refusing it. G is 1e9, Gi is 2^30, b is bits, B is bytes.
struct ParsedQuantity {
  bool ok = false;
  double value = 0;
  std::string problem;  // what was expected, with an example, if !ok
};
ParsedQuantity parse_quantity(std::string_view text, Dimension dimension);

/// Short text with three or four significant digits and a fitting prefix: "61.3 GB", "24.8 s", "312 TFLOP/s".
std::string to_text(Bytes amount);
std::string to_text(Seconds time);
std::string to_text(Flops amount);
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond rate);

}  // namespace stagecraft

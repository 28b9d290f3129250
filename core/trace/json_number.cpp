#include "trace/json_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace stagecraft {
namespace {

/// Powers of ten that a double holds exactly.
constexpr std::array<double, 23> power_of_ten = [] {
  std::array<double, 23> table{};
  double power = 1;
  for (double& entry : table) {
    entry = power;
    power *= 10;
  }
  return table;
}();

/// A number in pieces: -123.45e6 has the digits 12345, two of them after the point.
struct Pieces {
  bool negative = false, whole = true;
  std::uint64_t digits = 0;  // of up to 19 digits from the first that is not 0 on
  int count = 0;             // of these, also where they are more
  int after_point = 0;
  long exponent = 0;
};

void add_digit(Pieces& pieces, char c) {
  if (c == '0' && pieces.count == 0) return;
  if (++pieces.count <= 19) pieces.digits = pieces.digits * 10 + static_cast<unsigned>(c - '0');
}

std::optional<Pieces> pieces_of(std::string_view text) {
  Pieces pieces;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digit = [&] { return at != end && *at >= '0' && *at <= '9'; };
  if (at != end && *at == '-') pieces.negative = true, ++at;
  if (!digit() || (*at == '0' && end - at > 1 && at[1] >= '0' && at[1] <= '9')) return {};
  for (; digit(); ++at) add_digit(pieces, *at);
  if (at != end && *at == '.') {
    pieces.whole = false;
    ++at;
    if (!digit()) return {};
    for (; digit(); ++at, ++pieces.after_point) add_digit(pieces, *at);
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    pieces.whole = false;
    ++at;
    const bool down = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (!digit()) return {};
    constexpr long far = 100'000'000;  // beyond it more digits of the exponent say nothing more
    for (; digit(); ++at) pieces.exponent = std::min(far, pieces.exponent * 10 + (*at - '0'));
    if (down) pieces.exponent = -pieces.exponent;
  }
  return at == end ? std::optional(pieces) : std::nullopt;
}

std::int64_t large_whole(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (std::from_chars(text.data(), end, whole).ec == std::errc()) return whole;
  std::uint64_t bits = 0;
  if (std::from_chars(text.data(), end, bits).ec != std::errc()) return 0;
  return static_cast<std::int64_t>(bits & 0x7fffffffffffffffU);
}

}  // namespace

std::optional<JsonNumber> parse_json_number(std::string_view text) {
  const std::optional<Pieces> pieces = pieces_of(text);
  if (!pieces) return {};
  JsonNumber number;
  const long exponent = pieces->exponent - pieces->after_point;
  if (pieces->count <= 19 && pieces->digits <= std::uint64_t{1} << 53 && exponent >= -22 && exponent <= 22) {
    // Both factors are exact, so the result is rounded once.
    const double digits = static_cast<double>(pieces->digits);
    const double power = power_of_ten[static_cast<std::size_t>(exponent < 0 ? -exponent : exponent)];
    number.value = (exponent < 0 ? digits / power : digits * power) * (pieces->negative ? -1 : 1);
  } else if (pieces->digits != 0) {
    const std::errc problem = std::from_chars(text.data(), text.data() + text.size(), number.value).ec;
    const bool too_large = problem == std::errc::result_out_of_range && pieces->count + exponent > 0;
    if (too_large) return {};
  }
  if (pieces->whole && pieces->count <= 18) {
    number.whole = static_cast<std::int64_t>(pieces->digits) * (pieces->negative ? -1 : 1);
  } else if (pieces->whole) {
    number.whole = large_whole(text);
  } else if (number.value > -9e18 && number.value < 9e18) {
    number.whole = static_cast<std::int64_t>(number.value);
  }
  return number;
}

}  // namespace stagecraft

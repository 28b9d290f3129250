#include "trace/json_number.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace stagecraft {
namespace {

/// What the grammar of numbers says of a text.
enum class Form { none, whole, real };

Form form_of(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digits = [&] {
    const char* const first = at;
    while (at != end && *at >= '0' && *at <= '9') ++at;
    return at - first;
  };
  Form form = Form::whole;
  if (at != end && *at == '-') ++at;
  const bool zero = at != end && *at == '0';
  const auto count = digits();
  if (count == 0 || (zero && count > 1)) return Form::none;
  if (at != end && *at == '.') {
    form = Form::real;
    ++at;
    if (digits() == 0) return Form::none;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    form = Form::real;
    ++at;
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (digits() == 0) return Form::none;
  }
  return at == end ? form : Form::none;
}

std::int64_t whole_of(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (std::from_chars(text.data(), end, whole).ec == std::errc()) return whole;
  std::uint64_t bits = 0;
  if (std::from_chars(text.data(), end, bits).ec != std::errc()) return 0;
  return static_cast<std::int64_t>(bits & 0x7fffffffffffffffU);
}

}  // namespace

std::optional<JsonNumber> parse_json_number(std::string_view text) {
  const Form form = form_of(text);
  if (form == Form::none) return {};
  JsonNumber number;
  if (std::from_chars(text.data(), text.data() + text.size(), number.value).ec != std::errc()) {
    number.value = std::strtod(std::string(text).c_str(), nullptr);  // which tells too small from too large
    if (!std::isfinite(number.value)) return {};
  }
  if (form == Form::whole) {
    number.whole = whole_of(text);
  } else if (number.value > -9e18 && number.value < 9e18) {
    number.whole = static_cast<std::int64_t>(number.value);
  }
  return number;
}

}  // namespace stagecraft

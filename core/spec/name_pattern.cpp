#include "spec/name_pattern.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace stagecraft {
namespace {

constexpr std::int64_t most_names = 4096;
constexpr std::int64_t largest_number = 1'000'000;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (value < 0 || value > largest_number) return std::nullopt;
  return value;
}

// Values stay below largest_number squared, so that nothing overflows.
std::optional<std::int64_t> apply(std::int64_t left, char operation, std::int64_t right) {
  std::int64_t result = 0;
  if (operation == '+') result = left + right;
  if (operation == '-') result = left - right;
  if (operation == '*') result = left * right;
  if (operation == '/' || operation == '%') {
    if (right == 0) return std::nullopt;
    result = operation == '/' ? left / right : left % right;
  }
  if (result < -largest_number || result > largest_number) return std::nullopt;
  return result;
}

std::optional<std::int64_t> value_of(std::string_view expression, std::int64_t i) {
  while (!expression.empty() && expression.front() == ' ') expression.remove_prefix(1);
  while (!expression.empty() && expression.back() == ' ') expression.remove_suffix(1);
  if (expression == "i") return i;
  for (const std::string_view operations : {"+-", "*/%"}) {
    const std::size_t split = expression.find_last_of(operations);
    if (split == std::string_view::npos) continue;
    const auto left = value_of(expression.substr(0, split), i);
    const auto right = value_of(expression.substr(split + 1), i);
    if (!left || !right) return std::nullopt;
    return apply(*left, expression[split], *right);
  }
  return whole_number(expression);
}

struct Braces {
  std::size_t open = std::string_view::npos;
  std::size_t close = std::string_view::npos;
};

Braces find_braces(std::string_view text, std::size_t from) {
  const std::size_t open = text.find('{', from);
  return {open, open == std::string_view::npos ? open : text.find('}', open)};
}

std::string_view pattern_of(const JsonNode& node, const char* expected) {
  constexpr std::size_t longest = 100;
  if (!node.is(JsonKind::string) || node.raw_string().empty() || node.raw_string().size() > longest)
    node.fail(expected);
  return node.raw_string();
}

}  // namespace

std::vector<NumberedName> expand_names(const JsonNode& node) {
  constexpr const char* expected = R"(a name such as "nvswitch", or a row of names such as "gpu{0..7}")";
  const std::string_view text = pattern_of(node, expected);
  const Braces braces = find_braces(text, 0);
  if (braces.open == std::string_view::npos) {
    if (text.find('}') != std::string_view::npos) node.fail(expected);
    return {{std::string(text), 0}};
  }
  if (braces.close == std::string_view::npos || find_braces(text, braces.close).open != std::string_view::npos)
    node.fail(expected);
  const std::string_view range = text.substr(braces.open + 1, braces.close - braces.open - 1);
  const std::size_t dots = range.find("..");
  const auto first = whole_number(range.substr(0, dots));
  const auto last = dots == std::string_view::npos ? std::nullopt : whole_number(range.substr(dots + 2));
  if (!first || !last || *first > *last) node.fail(expected);
  if (*last - *first >= most_names) node.fail(fmt::format("at most {} names", most_names));
  std::vector<NumberedName> names;
  for (std::int64_t i = *first; i <= *last; ++i)
    names.push_back(
        {std::string(text.substr(0, braces.open)) + std::to_string(i) + std::string(text.substr(braces.close + 1)), i});
  return names;
}

std::string name_at(const JsonNode& node, std::int64_t i) {
  constexpr const char* expected = R"(a name, in which braces may hold a formula of i such as "pcie{i/2}")";
  const std::string_view text = pattern_of(node, expected);
  std::string name;
  std::size_t from = 0;
  for (Braces braces = find_braces(text, 0); braces.open != std::string_view::npos; braces = find_braces(text, from)) {
    if (braces.close == std::string_view::npos) node.fail(expected);
    const auto value = value_of(text.substr(braces.open + 1, braces.close - braces.open - 1), i);
    if (!value || *value < 0) node.fail(expected);
    name += text.substr(from, braces.open - from);
    name += std::to_string(*value);
    from = braces.close + 1;
  }
  if (text.find('}', from) != std::string_view::npos) node.fail(expected);
  return name += text.substr(from);
}

}  // namespace stagecraft

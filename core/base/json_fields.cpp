#include "base/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
  return text;
}

std::string quoted(const std::string& word) {
  return word.empty() ? "" : fmt::format("\"{}\"", word);
}

std::string in_base_unit(double value, Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return to_text(Bytes{value});
    case Dimension::seconds:
      return to_text(Seconds{value});
    case Dimension::flops:
      return to_text(Flops{value});
    case Dimension::bytes_per_second:
      return to_text(BytesPerSecond{value});
    case Dimension::flops_per_second:
      return to_text(FlopsPerSecond{value});
  }
  return fmt::format("{}", value);
}

std::string usual_unit(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "GiB";
    case Dimension::seconds:
      return "us";
    case Dimension::flops:
      return "GFLOP";
    case Dimension::bytes_per_second:
      return "GB/s";
    case Dimension::flops_per_second:
      return "TFLOP/s";
  }
  return "";
}

/// Texts are printed on terminals, which obey control characters (C0, DEL, C1).
void refuse_control_characters(const JsonNode& node, std::string_view allowed) {
  const std::string_view text = node.raw_string();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = static_cast<unsigned char>(text[i]);
    const bool c1 = letter == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    const bool control = letter < 0x20 || letter == 0x7F || c1;
    if (control && allowed.find(text[i]) == std::string_view::npos)
      node.fail("text without control characters", "", fmt::format("a control character at byte {} of the text", i));
  }
}

template <class Value, class Reader>
std::vector<Value> each(const JsonNode& node, Reader read) {
  std::vector<Value> values;
  for (const JsonNode& element : node.elements()) values.push_back(read(element));
  return values;
}

}  // namespace

std::int64_t read_integer(const JsonNode& node, std::int64_t min, std::int64_t max) {
  const std::string expected = fmt::format("an integer from {} to {}", min, max);
  if (node.is(JsonKind::number)) {
    const double value = node.raw_number();
    if (!(value >= static_cast<double>(min))) node.fail(expected, std::to_string(min));
    if (!(value <= static_cast<double>(max))) node.fail(expected, std::to_string(max));
    node.fail(expected, fmt::format("{:.0f}", value));
  }
  if (!node.is(JsonKind::integer)) node.fail(expected);
  const std::int64_t value = node.raw_integer();
  if (value < min) node.fail(expected, std::to_string(min));
  if (value > max) node.fail(expected, std::to_string(max));
  return value;
}

double read_number(const JsonNode& node, double min, double max) {
  const std::string expected = fmt::format("a number from {} to {}", min, max);
  if (!node.is_number()) node.fail(expected);
  const double value = node.raw_number();
  if (!(value >= min)) node.fail(expected, fmt::format("{}", min));
  if (!(value <= max)) node.fail(expected, fmt::format("{}", max));
  return value;
}

bool read_boolean(const JsonNode& node) {
  if (!node.is(JsonKind::boolean)) node.fail("true or false");
  return node.raw_boolean();
}

std::string read_string(const JsonNode& node) {
  if (!node.is(JsonKind::string)) node.fail("a string");
  refuse_control_characters(node, "\n\t");
  return std::string(node.raw_string());
}

std::string read_nonempty_string(const JsonNode& node) {
  std::string text = node.is(JsonKind::string) ? std::string(node.raw_string()) : "";
  if (text.empty()) node.fail("a string that is not empty");
  refuse_control_characters(node, "");
  return text;
}

std::string read_one_of(const JsonNode& node, const std::vector<std::string>& words) {
  const std::string expected = words.size() == 1 ? listed(words) : fmt::format("one of {}", listed(words));
  if (!node.is(JsonKind::string)) node.fail(expected);
  const std::string word(node.raw_string());
  if (std::find(words.begin(), words.end(), word) == words.end())
    node.fail(expected, quoted(nearest_word(word, words)));
  return word;
}

std::vector<std::int64_t> read_integers(const JsonNode& node, std::int64_t min, std::int64_t max) {
  return each<std::int64_t>(node, [&](const JsonNode& element) { return read_integer(element, min, max); });
}

std::vector<double> read_numbers(const JsonNode& node, double min, double max) {
  return each<double>(node, [&](const JsonNode& element) { return read_number(element, min, max); });
}

std::vector<std::string> read_strings(const JsonNode& node) {
  return each<std::string>(node, read_string);
}

double read_quantity(const JsonNode& node, Dimension dimension, double min, double max) {
  if (node.is_number()) {
    const std::string unit = usual_unit(dimension);
    node.fail(parse_quantity("", dimension).problem,
              fmt::format("\"{} {}\" if {} was meant", node.dump(40), unit, unit),
              fmt::format("the bare number {}", node.dump(40)));
  }
  if (!node.is(JsonKind::string)) node.fail(parse_quantity("", dimension).problem);
  const ParsedQuantity parsed = parse_quantity(node.raw_string(), dimension);
  if (!parsed.ok) node.fail(parsed.problem);
  const std::string range = fmt::format("{} to {}", in_base_unit(min, dimension), in_base_unit(max, dimension));
  if (!(parsed.value >= min)) node.fail(range, quoted(in_base_unit(min, dimension)));
  if (!(parsed.value <= max)) node.fail(range, quoted(in_base_unit(max, dimension)));
  return parsed.value;
}

Bytes read_bytes(const JsonNode& node, Bytes min, Bytes max) {
  return {read_quantity(node, Dimension::bytes, min.value, max.value)};
}

Seconds read_seconds(const JsonNode& node, Seconds min, Seconds max) {
  return {read_quantity(node, Dimension::seconds, min.value, max.value)};
}

Flops read_flops(const JsonNode& node, Flops min, Flops max) {
  return {read_quantity(node, Dimension::flops, min.value, max.value)};
}

BytesPerSecond read_bytes_per_second(const JsonNode& node, BytesPerSecond min, BytesPerSecond max) {
  return {read_quantity(node, Dimension::bytes_per_second, min.value, max.value)};
}

FlopsPerSecond read_flops_per_second(const JsonNode& node, FlopsPerSecond min, FlopsPerSecond max) {
  return {read_quantity(node, Dimension::flops_per_second, min.value, max.value)};
}

void only_keys(const JsonNode& object, const std::vector<std::string>& keys) {
  constexpr std::size_t most_reported = 20;
  std::vector<InputProblem> problems;
  for (const JsonNode& member : object.members()) {
    const std::string key = member.key();
    if (key == "$schema" || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    if (problems.size() == most_reported) break;
    problems.push_back(member.problem(fmt::format("one of the keys {}", listed(keys)), quoted(nearest_word(key, keys)),
                                      fmt::format("the unknown key {}", quoted(key.substr(0, most_reported * 4)))));
  }
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace stagecraft
